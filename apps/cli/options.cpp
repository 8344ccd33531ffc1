// `lase options`: the reference of all options, docs/options.md.

#include <iostream>

#include "cli/program.h"

namespace {

std::string escaped(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

// Those that every verb has are listed once.
bool is_common(const std::string& name) {
  return name == "help" || name == "help-all" || name == "json" || name == "threads" ||
         name == "config";
}

void write_verb(const CLI::App& verb, const std::string& name, std::ostream& out) {
  const auto subcommands = verb.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : subcommands) write_verb(*each, name + " " + each->get_name(), out);
  if (!subcommands.empty()) return;
  out << "\n## " << name << "\n\n"
      << verb.get_description() << ".\n\n"
      << "| option | value | default | meaning |\n|---|---|---|---|\n";
  for (const CLI::Option* option : verb.get_options()) {
    if (is_common(option->get_single_name())) continue;
    const bool is_flag = option->get_expected_max() == 0;
    const std::string type = is_flag ? "" : option->get_type_name();
    out << "| `" << option->get_name(option->get_positional()) << "` | "
        << escaped(type.empty() ? "" : "`" + type + "`") << " | "
        << escaped(option->get_default_str().empty() ? "" : "`" + option->get_default_str() + "`")
        << " | " << escaped(option->get_description())
        << (option->get_required() ? " (required)" : "") << " |\n";
  }
}

}  // namespace

void add_options(CLI::App& app, Session&) {
  CLI::App* verb = app.add_subcommand("options", verb_summary("options"));
  verb->callback([&app] {
    std::cout
        << "# Options\n\nEvery option of every verb, as `lase options` prints them; valid values "
           "are in brackets. All verbs also have `--help`, `--json` (print one JSON object as the "
           "last line), `--threads` (0: all cores) and `--config FILE`: a TOML file that holds "
           "any of their options, with underscores or dashes in the names.\n";
    write_verb(app, "lase", std::cout);
    std::cout.flush();
  });
}

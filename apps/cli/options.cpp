// `lase options`: prints the reference of all options, docs/options.md.

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

// Options that every verb has; described once, at the top.
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
  verb->footer("Example:\n  lase options > options.md");
  verb->callback([&app] {
    std::cout
        << "# Options\n\nAll options of all verbs, as printed by `lase options`, with valid values "
           "in brackets. Every verb also has `--help`, `--json` (print the result as one JSON "
           "object on the last line), `--threads` (number of threads, 0 = all cores) and `--config "
           "FILE` (TOML file with values for any of its options; names may use underscores or "
           "dashes).\n";
    write_verb(app, "lase", std::cout);
    std::cout.flush();
  });
}

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

// Options that every command has; described once, at the top.
bool is_common(const std::string& name) {
  return name == "help" || name == "help-all" || name == "json" || name == "threads" ||
         name == "config";
}

void write_command(const CLI::App& command, const std::string& name, std::ostream& out) {
  const auto subcommands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : subcommands) write_command(*each, name + " " + each->get_name(), out);
  if (!subcommands.empty()) return;
  out << "\n## " << name << "\n\n"
      << command.get_description() << ".\n\n"
      << "| option | value | default | meaning |\n|---|---|---|---|\n";
  for (const CLI::Option* option : command.get_options()) {
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
  CLI::App* command = app.add_subcommand("options", command_summary("options"));
  command->footer("Example:\n  lase options > options.md");
  command->callback([&app] {
    std::cout
        << "# Options\n\nAll options of all commands, as printed by `lase options`, with valid "
           "values in brackets. Every command also has `--help`, `--json` (print the result as one "
           "JSON "
           "object on the last line), `--threads` (number of threads, 0 = all cores) and `--config "
           "FILE` (TOML file with values for any of its options; names may use underscores or "
           "dashes).\n";
    write_command(app, "lase", std::cout);
    std::cout.flush();
  });
}

#include "cli/program.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <sys/resource.h>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/kernels/kernels.h"
#include "lase/version.h"

#include "cli/config.h"
#include "cli/failure.h"
#include "cli/fault_handler.h"
#include "cli/option_flags.h"
#include "common/closest.h"
#include "common/interrupt.h"
#include "common/printable.h"
#include "common/shell.h"

namespace {

struct Summary {
  std::string_view command;
  std::string_view text;
};

// In the order in which `lase --help` lists them.
constexpr std::array kSummaries = {
    Summary{"generate", "Generate a data set"},
    Summary{"import", "Import files into a graph"},
    Summary{"info", "Print a summary of a graph, a partitioned graph or a model"},
    Summary{"check", "Verify that a graph, model or checkpoint file is intact"},
    Summary{"export", "Export a graph to CSV and .npy files"},
    Summary{"partition", "Divide a graph into parts for several processes"},
    Summary{"train", "Train a model on a graph"},
    Summary{"tune", "Tune training options by random search on validation nodes"},
    Summary{"compare",
            "Compare models on the same splits and seeds, with paired significance tests"},
    Summary{"evaluate", "Evaluate a model on a graph"},
    Summary{
        "predict",
        "Predict labels or targets for all nodes or links, including nodes not seen in training"},
    Summary{"embed", "Compute the embeddings of all nodes"},
    Summary{"explain",
            "Explain the prediction for a node or a link by neighbors and link attributes"},
    Summary{"neighbors", "List the nodes with the most similar embeddings"},
    Summary{"line", "Learn node embeddings from links (LINE)"},
    Summary{"deepwalk", "Learn node embeddings from random walks (DeepWalk)"},
    Summary{"kernel", "Compare graphs with a graph kernel"},
    Summary{"download", "Download a public data set"},
    Summary{"launch", "Run a command in several processes on this machine"},
    Summary{"reproduce", "Reproduce the paper's experiments and compare the results"},
    Summary{"bench", "Benchmark lase on this machine"},
    Summary{"options", "Print a reference of all options as Markdown"},
};

constexpr const char* kExamples =
    "Examples:\n"
    "  lase generate mail --out mail\n"
    "  lase import contacts mail/contacts.csv --nodes mail/people.csv \\\n"
    "      --label department --split split --separate-directions --out mail.graph\n"
    "  lase train mail.graph --out mail.model\n"
    "  lase evaluate mail.model mail.graph\n"
    "\n"
    "Run `lase COMMAND --help` for its options and more examples.";

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// CLI11 appends " ..." to options that take several values; a list is a single argument, A,B,C. It
// also appends "{false}" to flags that turn an option off.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const size_t dots = text.rfind(" ...");
    if (option->get_delimiter() != '\0' && dots != text.npos) text.erase(dots, 4);
    return text;
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    constexpr std::string_view kOff = "{false}";
    std::string text = CLI::Formatter::make_option_name(option, is_positional);
    const size_t off = text.find(kOff);
    if (off != text.npos) text.erase(off, kOff.size());
    return text;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (subcommands(*app).empty()) return CLI::Formatter::make_usage(app, name);
    return lase::join("Usage: ", name, " COMMAND [OPTIONS]\n");
  }
};

std::string version_text(const std::string& torch_version) {
  std::string text = lase::join("lase ", lase::kVersion, "\ncompiler         ", LASE_COMPILER,
                                "\nbuild type       ", LASE_BUILD_TYPE, "\ninstruction set  ",
                                lase::kernels::instruction_set());
  if (!torch_version.empty()) text += "\nlibtorch         " + torch_version;
  return text;
}

// "links, contacts or typed"
std::string listed(const std::vector<const CLI::App*>& commands) {
  std::string text;
  for (size_t i = 0; i < commands.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == commands.size() ? " or " : ", ") + commands[i]->get_name();
  }
  return text;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// The innermost command that was given.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* given = &app;
  while (!given->get_subcommands().empty()) given = given->get_subcommands().front();
  return *given;
}

// One sentence about a command line that cannot be parsed.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* given = &innermost(app);
  std::string name = given->get_name();
  for (const auto* parent = given->get_parent(); parent != nullptr; parent = parent->get_parent()) {
    name = parent->get_name() + " " + name;
  }
  const std::string see = "; run `" + name + " --help`";
  auto extras = app.remaining(true);
  std::erase(extras, "--");
  const auto flag = std::find_if(extras.begin(), extras.end(),
                                 [](const auto& extra) { return extra.starts_with("-"); });
  if (!extras.empty() && flag != extras.begin() && !subcommands(*given).empty()) {
    const std::string unknown = lase::quote(extras.front());
    const std::string hint = did_you_mean(extras.front(), names_of(subcommands(*given)));
    if (given == &app) {
      return "unknown command " + unknown + (hint.empty() ? see + " for the list" : hint);
    }
    const bool formats = given->get_name() == "import";
    return lase::join("unknown ", given->get_name(), formats ? " format " : " command ", unknown,
                      hint.empty() ? "; expected " + listed(subcommands(*given)) : hint);
  }
  if (flag != extras.end()) {
    const std::string name_only = flag->substr(0, flag->find('='));
    const std::string hint = did_you_mean(name_only, flags_of(*given));
    return "unknown option " + lase::quote(name_only) + (hint.empty() ? see : hint);
  }
  if (!extras.empty()) return "unexpected argument " + lase::quote(extras.front()) + see;
  if (!subcommands(*given).empty()) return "a command is missing" + see + " for the list";
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.starts_with("--")) {
    const bool missing = text.find("missing") != text.npos;
    return text.substr(0, text.find(':')) +
           (missing ? ": needs a value" : ": may be given only once") + see;
  }
  constexpr std::string_view kUnclear = "Could not convert: ";  // --json = maybe
  const size_t value = text.find(" = ");
  if (text.starts_with(kUnclear) && value != text.npos) {
    return lase::join(text.substr(kUnclear.size(), value - kUnclear.size()), " ",
                      lase::quote(text.substr(value + 3)), ": must be true or false");
  }
  return text + see;  // "--out is required"
}

// With the options of the configuration file. Process 0 reports errors in it.
std::vector<std::string> expanded_arguments(const CLI::App& app,
                                            const std::vector<std::string>& arguments) try {
  return join_lists(app, expand_config(arguments));
} catch (const lase::Error& error) {
  if (is_other_process()) throw SilentExit{failure_of(error).code};
  throw;
}

int run(const std::vector<std::string>& arguments, const Commands& commands,
        const TorchParts& torch) {
  CLI::App app("lase learns from graphs whose links carry attributes.", "lase");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag(
      "--version", [&] { return version_text(torch.version); },
      "Print the version and build details and exit");
  app.require_subcommand(1);
  app.group("Commands");  // heading of the list of commands
  app.set_help_all_flag("--help-all", "Print the help of all commands and exit");
  std::vector<std::string> words = {"lase"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Session session(shell_line(words), torch.join);
  for (const auto& [command, text] : kSummaries) {
    const auto add = commands.find(command);
    if (add != commands.end()) {
      add->second(app, session);
    } else {
      app.add_subcommand(std::string(command), std::string(text));
    }
  }
  app.footer(
      kExamples);  // set last: commands inherit the footer that the app has when they are added
  try {
    // The words after -- belong to another command.
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    auto expanded = expanded_arguments(app, {arguments.begin(), end});
    expanded.insert(expanded.end(), end, arguments.end());
    std::reverse(expanded.begin(), expanded.end());  // CLI11 expects the last one first
    app.parse(std::move(expanded));
  } catch (const CLI::ParseError& error) {
    if (is_other_process()) return error.get_exit_code() == 0 ? 0 : kBadUsage;
    PrintableStream err(std::cerr);
    for (const std::string& extra : app.remaining(true)) {
      const bool given = std::find(arguments.begin(), arguments.end(), extra) != arguments.end();
      if (given || !extra.starts_with("--")) continue;
      const std::string flag = extra.substr(0, extra.find('='));
      err << "lase: " << config_file(arguments) << ": unknown option "
          << lase::quote(flag.substr(2)) << did_you_mean(flag, flags_of(innermost(app))) << "\n";
      return kBadUsage;
    }
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, err);  // --help
    err << "lase: " << printable(usage_error(app, error)) << "\n";
    return kBadUsage;
  }
  return interrupted() ? kInterrupted : 0;
}

// Every mapped graph keeps a file open; `lase kernel` compares thousands of graphs.
void allow_many_files() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

const Summary* find_summary(std::string_view name) {
  const auto* found = std::find_if(kSummaries.begin(), kSummaries.end(),
                                   [&](const Summary& summary) { return summary.command == name; });
  return found == kSummaries.end() ? nullptr : found;
}

}  // namespace

Commands graph_commands() {
  return {{"generate", add_generate},  {"import", add_import},     {"info", add_info},
          {"export", add_export},      {"line", add_line},         {"deepwalk", add_deepwalk},
          {"kernel", add_kernel},      {"download", add_download}, {"launch", add_launch},
          {"partition", add_partition}};
}

bool is_command(std::string_view name) { return find_summary(name) != nullptr; }

std::string command_summary(std::string_view name) { return std::string(find_summary(name)->text); }

int run_program(int argc, char** argv, const Commands& commands, const TorchParts& torch) {
  install_fault_handler();
  allow_many_files();
  Failure failure;
  try {
    const int code = run({argv + 1, argv + argc}, commands, torch);
    if (const char* path = lase::changed_mapped_file()) {
      std::cerr << "lase: warning: " << printable(path)
                << ": was changed while lase was reading it; the results may be wrong\n";
    }
    return code;
  } catch (const SilentExit& exit) {
    failure.code = exit.code;
  } catch (const std::exception& error) {
    failure = failure_of(error);
    std::cerr << "lase: " << printable(failure.message) << "\n";
  }
  return interrupted() ? kInterrupted : failure.code;
}

#include "cli/program.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <new>
#include <sys/resource.h>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/kernels/kernels.h"
#include "lase/version.h"

#include "cli/config.h"
#include "cli/fault_handler.h"
#include "cli/option_flags.h"
#include "common/interrupt.h"
#include "common/printable.h"

namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;
constexpr int kInterrupted = 130;

struct Summary {
  std::string_view command;
  std::string_view text;
};

// In the order in which `lase --help` lists them.
constexpr std::array kSummaries = {
    Summary{"generate", "Generate a data set"},
    Summary{"import", "Import files into a graph"},
    Summary{"info", "Print a summary of a graph"},
    Summary{"check", "Verify that a graph, model or checkpoint file is intact"},
    Summary{"export", "Export a graph to CSV and .npy files"},
    Summary{"train", "Train a model on a graph"},
    Summary{"tune", "Tune training options by random search on validation nodes"},
    Summary{"evaluate", "Evaluate a model on a graph"},
    Summary{"predict", "Predict the labels of all nodes, including nodes not seen in training"},
    Summary{"embed", "Compute the embeddings of all nodes"},
    Summary{"explain", "Explain a prediction by its neighbors and link attributes"},
    Summary{"line", "Learn node embeddings from links (LINE)"},
    Summary{"deepwalk", "Learn node embeddings from random walks (DeepWalk)"},
    Summary{"kernel", "Compare graphs with a graph kernel"},
    Summary{"download", "Download a public data set"},
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
    "Run `lase COMMAND --help` for the options of a command and more examples.";

// CLI11 appends " ..." to options that take several values; a list is a single argument, A,B,C.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const size_t dots = text.rfind(" ...");
    if (option->get_delimiter() != '\0' && dots != text.npos) text.erase(dots, 4);
    return text;
  }
};

std::string version_text(const std::string& torch_version) {
  std::string text = lase::join("lase ", lase::kVersion, "\ncompiler         ", LASE_COMPILER,
                                "\nbuild type       ", LASE_BUILD_TYPE, "\ninstruction set  ",
                                lase::kernels::instruction_set());
  if (!torch_version.empty()) text += "\nlibtorch         " + torch_version;
  return text;
}

int run(const std::vector<std::string>& arguments, const Commands& commands,
        const std::string& torch_version) {
  CLI::App app("lase learns from graphs whose links carry attributes.", "lase");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag(
      "--version", [&] { return version_text(torch_version); },
      "Print the version and build details and exit");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all commands and exit");
  Session session;
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
    auto expanded = expand_config(arguments);
    std::reverse(expanded.begin(), expanded.end());  // CLI11 expects the last one first
    app.parse(std::move(expanded));
  } catch (const CLI::ParseError& error) {
    for (const std::string& extra : app.remaining(true)) {
      const bool given = std::find(arguments.begin(), arguments.end(), extra) != arguments.end();
      if (given || !extra.starts_with("--")) continue;
      std::cerr << "lase: " << config_file(arguments) << ": unknown option "
                << lase::quote(extra.substr(2, extra.find('=') - 2)) << "\n";
      return kBadUsage;
    }
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kBadUsage;
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
  return {{"generate", add_generate}, {"import", add_import},    {"info", add_info},
          {"export", add_export},     {"line", add_line},        {"deepwalk", add_deepwalk},
          {"kernel", add_kernel},     {"download", add_download}};
}

bool is_command(std::string_view name) { return find_summary(name) != nullptr; }

std::string command_summary(std::string_view name) { return std::string(find_summary(name)->text); }

int run_program(int argc, char** argv, const Commands& commands, const std::string& torch_version) {
  install_fault_handler();
  allow_many_files();
  std::string message;
  try {
    const int code = run({argv + 1, argv + argc}, commands, torch_version);
    if (const char* path = lase::changed_mapped_file()) {
      std::cerr << "lase: warning: " << path
                << ": was changed while lase was reading it; the results may be wrong\n";
    }
    return code;
  } catch (const std::bad_alloc&) {
    message = "out of memory";
  } catch (const lase::Error& error) {
    message = error.spelled(flag_of);
  } catch (const std::exception& error) {
    message = error.what();
    message.resize(std::min(message.size(), message.find("\nException raised from")));  // torch
    if (message.find("can't allocate memory") != message.npos) message = "out of memory";
  }
  // If a mapped file has changed, that is the cause, whatever was thrown.
  if (const char* path = lase::changed_mapped_file()) message = lase::join(path, kChangedFile);
  std::cerr << "lase: " << printable(message) << "\n";
  return interrupted() ? kInterrupted : kBadInput;
}

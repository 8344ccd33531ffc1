#include "cli/program.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <new>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/version.h"

#include "cli/config.h"
#include "cli/fault_handler.h"
#include "cli/option_flags.h"

namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;

struct Summary {
  std::string_view verb;
  std::string_view text;
};

// In the order of the help.
constexpr std::array kSummaries = {
    Summary{"generate", "Make a data set"},
    Summary{"import", "Turn files into a graph"},
    Summary{"info", "Tell what a graph holds"},
    Summary{"export", "Write a graph as csv and npy files"},
    Summary{"train", "Train a model on a graph"},
    Summary{"tune", "Search for good options by random trials, scored on validation nodes"},
    Summary{"evaluate", "Score a model on a graph"},
    Summary{"predict", "Predict the labels of all nodes, seen before or not"},
    Summary{"embed", "Write the embeddings of all nodes"},
    Summary{"explain", "Show which neighbours and link attributes counted"},
    Summary{"line", "Embed nodes by their links (LINE)"},
    Summary{"deepwalk", "Embed nodes by random walks (DeepWalk)"},
    Summary{"kernel", "Compare whole graphs by a graph kernel"},
    Summary{"download", "Fetch a public data set"},
    Summary{"reproduce", "Run the paper's experiments, its numbers beside those found here"},
    Summary{"bench", "Measure speed on this machine"},
    Summary{"options", "Print the reference of all options as Markdown"},
};

int run(const std::vector<std::string>& arguments, const Verbs& verbs) {
  CLI::App app("lase learns from graphs whose links carry attributes.", "lase");
  app.set_version_flag("--version", std::string("lase ") + lase::kVersion);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all verbs");
  Session session;
  for (const auto& [verb, text] : kSummaries) {
    const auto add = verbs.find(verb);
    if (add != verbs.end()) {
      add->second(app, session);
    } else {
      app.add_subcommand(std::string(verb), std::string(text));
    }
  }
  try {
    auto expanded = expand_config(arguments);
    std::reverse(expanded.begin(), expanded.end());  // CLI11 takes them last to first
    app.parse(std::move(expanded));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kBadUsage;
  }
  return 0;
}

const Summary* find_summary(std::string_view name) {
  const auto* found = std::find_if(kSummaries.begin(), kSummaries.end(),
                                   [&](const Summary& summary) { return summary.verb == name; });
  return found == kSummaries.end() ? nullptr : found;
}

}  // namespace

Verbs graph_verbs() {
  return {{"generate", add_generate}, {"import", add_import},    {"info", add_info},
          {"export", add_export},     {"line", add_line},        {"deepwalk", add_deepwalk},
          {"kernel", add_kernel},     {"download", add_download}};
}

bool is_verb(std::string_view name) { return find_summary(name) != nullptr; }

std::string verb_summary(std::string_view name) { return std::string(find_summary(name)->text); }

int run_program(int argc, char** argv, const Verbs& verbs) {
  install_fault_handler();
  std::string message;
  try {
    const int code = run({argv + 1, argv + argc}, verbs);
    if (const char* path = lase::changed_mapped_file()) {
      std::cerr << "lase: warning: " << path
                << ": was changed while lase was reading it; the results may be wrong\n";
    }
    return code;
  } catch (const std::bad_alloc&) {
    message = "this machine does not have enough memory for that";
  } catch (const lase::Error& error) {
    message = error.spelled(flag_of);
  } catch (const std::exception& error) {
    message = error.what();
    message.resize(std::min(message.size(), message.find("\nException raised from")));  // torch
  }
  // Whatever was thrown, a file that changed meanwhile explains it.
  if (const char* path = lase::changed_mapped_file()) message = lase::join(path, kChangedFile);
  std::cerr << "lase: " << message << "\n";
  return kBadInput;
}

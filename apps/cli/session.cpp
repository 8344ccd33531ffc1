#include "cli/session.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "lase/base/context.h"
#include "lase/base/error.h"

#include "cli/option_flags.h"
#include "common/printable.h"

CLI::App* Session::add_command(CLI::App& parent, const std::string& name, const std::string& help,
                               std::function<nlohmann::json()> run) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->option_defaults()->always_capture_default();
  command->add_flag("--json", json_, "Print the result as one JSON object on the last line");
  lase::OptionTable<Common> table;
  table.add("threads", &Common::threads, lase::between(0, 4096),
            "Number of threads (0 = all cores)");
  add_flags(*command, table.bind(common_));
  // expand_config() replaces this flag before parsing; it is declared for the help.
  command->add_option("--config", config_, "TOML file with values for any of these options");
  command->callback([this, run = std::move(run)] {
    const lase::ThreadLimit limit(common_.threads > 0 ? static_cast<int>(common_.threads)
                                                      : lase::thread_count());
    const nlohmann::json result = run();
    out().flush();
    // With --json, the text on stderr matters less than the result.
    lase::require(json_ || out().good(), "the output cannot be written: ", std::strerror(errno));
    if (json_)
      std::cout << result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    std::cout.flush();
    lase::require(std::cout.good(), "the output cannot be written: ", std::strerror(errno));
  });
  return command;
}

std::ostream& Session::out() const {
  static PrintableStream out(std::cout);
  static PrintableStream err(std::cerr);
  return json_ ? err : out;
}

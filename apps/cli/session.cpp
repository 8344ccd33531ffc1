#include "cli/session.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include "lase/base/context.h"
#include "lase/base/error.h"

#include "cli/option_flags.h"
#include "common/printable.h"

CLI::App* Session::add_command(CLI::App& parent, const std::string& name, const std::string& help,
                               std::function<nlohmann::json()> command_body, Processes processes) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->option_defaults()->always_capture_default();
  command->add_flag("--json", json_, "Print the result as one JSON object on the last line");
  lase::OptionTable<Common> table;
  table.add("threads", &Common::threads, lase::between(0, 4096),
            "Number of threads (0 = all cores)");
  add_flags(*command, table.bind(common_));
  // expand_config() replaces this flag before parsing; it is declared for the help.
  command->add_option("--config", config_, "TOML file with values for any of these options");
  command->callback([this, processes, body = std::move(command_body)] {
    const auto launch =
        processes == Processes::kTogether ? lase::launch_environment() : std::nullopt;
    if (!launch) return run(body, lase::thread_count());
    run_together(*launch, join_, [&] { run(body, threads_per_process()); });
  });
  return command;
}

void Session::run(const std::function<nlohmann::json()>& command, int default_threads) const {
  const lase::ThreadLimit limit(common_.threads > 0 ? static_cast<int>(common_.threads)
                                                    : default_threads);
  const nlohmann::json result = command();
  out().flush();
  // With --json, the text on stderr matters less than the result.
  lase::require(json_ || out().good(), "the output cannot be written: ", std::strerror(errno));
  if (json_)
    std::cout << result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  std::cout.flush();
  lase::require(std::cout.good(), "the output cannot be written: ", std::strerror(errno));
}

std::ostream& Session::out() const {
  static PrintableStream out(std::cout);
  static PrintableStream err(std::cerr);
  return json_ ? err : out;
}

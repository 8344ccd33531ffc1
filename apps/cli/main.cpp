// The program without torch: commands on files and graphs run here, all others run in lase-torch.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "cli/program.h"

namespace {

namespace fs = std::filesystem;

// Path of lase-torch: beside this executable (build tree) or in libexec (installed); empty if it is
// missing.
fs::path torch_program() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate :
       {folder / "lase-torch", folder / ".." / "libexec" / "lase" / "lase-torch",
        fs::path(LASE_LIBEXEC) / "lase-torch"}) {
    if (fs::exists(candidate, error)) return candidate;
  }
  return {};
}

// --help-all and commands that are not in graph_commands() need lase-torch.
bool needs_torch(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view first = argv[1];
  return first == "--help-all" || (is_command(first) && !graph_commands().contains(first));
}

}  // namespace

int main(int argc, char** argv) {
  if (!needs_torch(argc, argv)) return run_program(argc, argv, graph_commands());
  const fs::path program = torch_program();
  if (program.empty()) {
    std::cerr << "lase: `lase " << argv[1]
              << "` needs libtorch, but this lase was built without it; install libtorch and "
                 "rebuild lase\n";
    return 1;
  }
  ::setenv("GLOG_minloglevel", "3", 0);  // errors of torch are exceptions, no need to log them
  ::execv(program.c_str(), argv);
  std::cerr << "lase: " << program.string() << ": cannot be run: " << std::strerror(errno) << "\n";
  return 1;
}

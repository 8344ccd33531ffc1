#pragma once

#include <string_view>

// Error message after the path of a file that was changed while it was mapped.
inline constexpr std::string_view kChangedFile =
    ": was changed while lase was reading it; restore it and run again (to update a graph, write a "
    "new file and rename it)";

// Installs a handler for SIGBUS and SIGSEGV. A fault that follows a change to a mapped file ends
// the program with a message that names the file; any other fault is left to the previous handler.
void install_fault_handler();

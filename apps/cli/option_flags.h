#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "lase/base/option_table.h"

// --learning-rate for learning_rate
std::string flag_of(std::string_view option);

// A flag for each option; positional ones by their place. The struct that they are bound to must
// outlive the verb. A value of the wrong form is bad usage, one out of range an Error.
void add_flags(CLI::App& verb, const lase::BoundOptions& options);

#include "cli/failure.h"

#include <algorithm>
#include <new>

#include "lase/base/error.h"
#include "lase/base/file.h"

#include "cli/fault_handler.h"
#include "cli/option_flags.h"

Failure failure_of(const std::exception& error) {
  // If a mapped file has changed, that is the cause, whatever was thrown.
  if (const char* path = lase::changed_mapped_file()) return {lase::join(path, kChangedFile)};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return {"out of memory"};
  if (const auto* known = dynamic_cast<const lase::Error*>(&error)) {
    const bool usage = dynamic_cast<const lase::OptionError*>(known) != nullptr;
    return {known->spelled(flag_of), usage ? kBadUsage : kBadInput};
  }
  std::string message = error.what();
  message.resize(std::min(message.size(), message.find("\nException raised from")));  // torch
  if (message.find("can't allocate memory") != message.npos) message = "out of memory";
  return {message};
}

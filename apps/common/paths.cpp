#include "common/paths.h"

#include <filesystem>

#include "lase/base/error.h"

namespace {

namespace fs = std::filesystem;

// The same for all names of one place, whether there is a file or not.
std::string place_of(const std::string& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(path, error);
  return error ? path : place.string();
}

}  // namespace

void require_apart(const std::vector<std::string>& read, const std::vector<std::string>& written) {
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].empty()) continue;
    for (const auto& input : read) {
      lase::require(input.empty() || place_of(input) != place_of(written[i]), written[i],
                    ": is read by this command, and would be overwritten");
    }
    for (size_t j = 0; j < i; ++j) {
      lase::require(written[j].empty() || place_of(written[j]) != place_of(written[i]), written[i],
                    ": would be written twice by this command");
    }
  }
}

#include "common/paths.h"

#include <filesystem>

#include "lase/base/error.h"
#include "lase/graph/graph_parts.h"

namespace {

namespace fs = std::filesystem;

// Equal for all spellings of a path, whether or not the file exists.
std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path result = fs::weakly_canonical(path, error);
  return error ? path : result.string();
}

}  // namespace

void require_distinct_files(const std::vector<std::string>& read,
                            const std::vector<std::string>& written) {
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].empty()) continue;
    for (const auto& input : read) {
      if (input.empty()) continue;
      const fs::path in = canonical(input);
      const fs::path out = canonical(written[i]);
      const bool is_part = lase::is_partitioned(in.string()) && out.parent_path() == in;
      lase::require(in != out && !is_part, written[i],
                    ": is an input of this command and would be overwritten");
    }
    for (size_t j = 0; j < i; ++j) {
      lase::require(written[j].empty() || canonical(written[j]) != canonical(written[i]),
                    written[i], ": would be written twice by this command");
    }
  }
}

void require_outside(const std::string& file, const std::string& folder) {
  lase::require(fs::path(canonical(file)).parent_path() != fs::path(canonical(folder)), file,
                ": is in the folder to write to, ", folder, "; choose another folder");
}

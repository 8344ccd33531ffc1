#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lase/base/safetensors.h"

namespace lase {

// A kind of file that lase writes: a safetensors file whose metadata has the keys "format"
// (lase.graph), "version", and a JSON description under the name of the kind.
struct FileKind {
  std::string_view name;    // "graph"
  int version = 1;          // the only one that is read
  std::string_view remedy;  // what to do about a file of another version: "import the data again"
};

inline constexpr FileKind kGraphFile{"graph", 1, "import the data again"};
inline constexpr FileKind kPartitionFile{"partition", 1, "partition the graph again"};
inline constexpr FileKind kPartFile{"part", 1, "partition the graph again"};
inline constexpr FileKind kModelFile{"model", 3, "train the model again"};
inline constexpr FileKind kCheckpointFile{"checkpoint", 2, "start the training again"};

// Opens a file of this kind and verifies the checksums of its metadata and small arrays. Throws
// Error for any other file, naming what it seems to be.
SafetensorsFile open_lase_file(const std::string& path, const FileKind& kind);

// The kind of any file of lase; throws Error for any other file.
FileKind kind_of_file(const std::string& path);

// The description in the metadata; throws Error unless it is a JSON object.
nlohmann::json file_description(const SafetensorsFile& file, const FileKind& kind);

// Metadata for a new file of this kind.
Metadata file_metadata(const FileKind& kind, const nlohmann::json& description);

}  // namespace lase

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

// An anonymous file in memory; path() can be opened like any other file.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, 0)) {
    if (descriptor_ < 0) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  void set(std::string_view content) {
    const bool done =
        ::ftruncate(descriptor_, 0) == 0 &&
        ::pwrite(descriptor_, content.data(), content.size(), 0) == ssize_t(content.size());
    if (!done) std::abort();
  }

 private:
  int descriptor_;
};

// A folder in memory.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::string& name)
      : path_("/dev/shm/lase-fuzz-" + std::to_string(::getpid()) + "-" + name) {
    std::filesystem::create_directories(path_);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  // Writes a file. Without content, removes the file instead, and its parent folders if empty.
  void set(const std::string& name, std::string_view content) const {
    const std::filesystem::path root(path_);
    const auto file = root / name;
    if (content.empty()) {
      std::error_code not_empty;
      for (auto at = file; at != root; at = at.parent_path()) {
        std::filesystem::remove(at, not_empty);
      }
      return;
    }
    std::filesystem::create_directories(file.parent_path());
    if (!(std::ofstream(file) << content).flush()) std::abort();
  }

 private:
  std::string path_;
};

// Removes and returns the front of text, up to the separator (which is dropped) or the end.
inline std::string_view take_until(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto front = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return front;
}

// Runs code that must succeed: even lase::Error is a finding here.
template <class Body>
void must_hold(const char* what, const Body& body) {
  try {
    body();
  } catch (const lase::Error& error) {
    std::cerr << what << ": " << error.what() << "\n";
    std::abort();
  }
}

// Reads every name, feature and attribute that can be reached from a checked graph.
inline void walk_graph(const lase::Graph& graph) {
  [[maybe_unused]] static volatile double sink = 0;
  double sum = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      sum += static_cast<double>(graph.nodes.names[graph.neighbor[i]].size());
      if (graph.link_attributes.columns == 0) continue;
      graph.link_attributes.for_each(graph.link[i], [&](int64_t, float value) { sum += value; });
    }
    if (graph.nodes.features.columns == 0) continue;
    graph.nodes.features.for_each(u, [&](int64_t, float value) { sum += value; });
  }
  sink = sum;
  sink = static_cast<double>(lase::describe_text(graph).size());
}

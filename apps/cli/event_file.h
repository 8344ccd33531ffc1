#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lase {

// An event file as TensorBoard reads it: records of a length, its checksum, an Event message in
// protobuf's wire format, and its checksum.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);
  void scalar(const std::string& tag, int64_t step, double value);

 private:
  void record(const std::string& event);
  std::string path_;
  std::ofstream out_;
};

}  // namespace lase

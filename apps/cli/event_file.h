#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lase {

// A TensorBoard event file. Each record is a length, its checksum, an Event message in protobuf's
// wire format, and the checksum of the message.
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

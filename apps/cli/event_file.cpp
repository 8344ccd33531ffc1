#include "cli/event_file.h"

#include <array>
#include <chrono>
#include <cstring>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"

namespace lase {
namespace {

// CRC-32C (Castagnoli), one byte at a time.
uint32_t crc32c(const std::string& bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1) != 0 ? 0x82F63B78u ^ (value >> 1) : value >> 1;
      }
      entries[i] = value;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string masked_crc(const std::string& bytes) {
  const uint32_t crc = crc32c(bytes);
  return raw(((crc >> 15) | (crc << 17)) + 0xA282EAD8u);
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// A protobuf field: the key (field number and wire type), then the value.
std::string key(int field, int type) { return varint(static_cast<uint64_t>(field << 3 | type)); }
std::string field_double(int field, double value) { return key(field, 1) + raw(value); }
std::string field_float(int field, float value) { return key(field, 5) + raw(value); }
std::string field_int(int field, int64_t value) {
  return key(field, 0) + varint(static_cast<uint64_t>(value));
}
std::string field_bytes(int field, const std::string& value) {
  return key(field, 2) + varint(value.size()) + value;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

EventFile::EventFile(const std::string& folder) {
  make_folder(folder);
  path_ = join(folder, "/events.out.tfevents.", static_cast<int64_t>(now()), ".lase.", ::getpid());
  out_.open(path_, std::ios::binary);
  record(field_double(1, now()) + field_bytes(3, "brain.Event:2"));
}

void EventFile::scalar(const std::string& tag, int64_t step, double value) {
  const std::string entry = field_bytes(1, tag) + field_float(2, static_cast<float>(value));
  record(field_double(1, now()) + field_int(2, step) + field_bytes(5, field_bytes(1, entry)));
}

void EventFile::record(const std::string& event) {
  const std::string length = raw(static_cast<uint64_t>(event.size()));
  out_ << length << masked_crc(length) << event << masked_crc(event) << std::flush;
  require(out_.good(), path_, ": cannot be written");
}

}  // namespace lase

// Reads event files back with an independent reader that computes checksums bit by bit.

#include "cli/event_file.h"

#include <cstring>
#include <filesystem>

#include "lase/base/error.h"
#include "lase/base/file.h"

#include "support.h"

namespace lase {
namespace {

// CRC-32C as the remainder of a division, most significant bit first, on reflected bytes.
uint32_t crc32c(std::string_view bytes) {
  const auto reflected = [](uint32_t value, int bits) {
    uint32_t result = 0;
    for (int i = 0; i < bits; ++i) result |= ((value >> i) & 1) << (bits - 1 - i);
    return result;
  };
  uint32_t remainder = 0xFFFFFFFF;
  for (const char c : bytes) {
    remainder ^= reflected(static_cast<unsigned char>(c), 8) << 24;
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (remainder >> 31) != 0;
      remainder <<= 1;
      if (carry) remainder ^= 0x1EDC6F41;
    }
  }
  return reflected(~remainder, 32);
}

uint32_t masked(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8;
}

template <class T>
T number(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::vector<std::string> records(const std::string& text) {
  std::vector<std::string> all;
  for (size_t at = 0; at < text.size();) {
    const std::string length = text.substr(at, 8);
    const auto size = number<uint64_t>(length);
    EXPECT_EQ(number<uint32_t>(text.substr(at + 8, 4)), masked(length));
    const std::string data = text.substr(at + 12, size);
    EXPECT_EQ(data.size(), size);
    EXPECT_EQ(number<uint32_t>(text.substr(at + 12 + size, 4)), masked(data));
    all.push_back(data);
    at += 16 + size;
  }
  return all;
}

// Fields of a protobuf message by number: raw bytes, with varints as 8 bytes.
std::map<int, std::string> fields(std::string_view message) {
  std::map<int, std::string> all;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const uint64_t key = varint();
    std::string value;
    size_t size = 0;
    switch (key & 7) {
      case 0: {
        const uint64_t given = varint();
        value.assign(reinterpret_cast<const char*>(&given), sizeof given);
        break;
      }
      case 1:
        size = 8;
        break;
      case 2:
        size = varint();
        break;
      case 5:
        size = 4;
        break;
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return all;
    }
    if (size > 0) value = message.substr(at, size);
    at += size;
    all[static_cast<int>(key >> 3)] = value;
  }
  return all;
}

class EventFileTest : public FolderTest {};

TEST_F(EventFileTest, ReferenceChecksumMatchesTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283);
}

TEST_F(EventFileTest, RoundTrips) {
  const std::string folder = path("a/b");
  {
    EventFile events(folder);
    events.scalar("train/loss", 1, 0.5);
    events.scalar("val/micro-F1", 300, -1.25e-3);
    events.scalar(std::string(200, 'x'), int64_t{1} << 40, 7);
  }
  const Strings names = files();
  ASSERT_EQ(names.size(), 1);
  EXPECT_NE(names[0].find("tfevents"), std::string::npos);
  const auto all = records(read_file(path(names[0])));
  ASSERT_EQ(all.size(), 4);
  EXPECT_EQ(fields(all[0])[3], "brain.Event:2");
  EXPECT_GT(number<double>(fields(all[0])[1]), 1.6e9);
  const auto expect = [&](size_t i, const std::string& tag, int64_t step, float value) {
    auto event = fields(all[i]);
    EXPECT_GT(number<double>(event[1]), 1.6e9);
    EXPECT_EQ(number<int64_t>(event[2]), step);
    auto entry = fields(fields(event[5])[1]);
    EXPECT_EQ(entry[1], tag);
    EXPECT_EQ(number<float>(entry[2]), value);
  };
  expect(1, "train/loss", 1, 0.5F);
  expect(2, "val/micro-F1", 300, -1.25e-3F);
  expect(3, std::string(200, 'x'), int64_t{1} << 40, 7);
}

TEST_F(EventFileTest, ReportsAFolderThatCannotBeCreated) {
  const std::string file = write("file", "");
  expect_error([&] { EventFile events(file + "/folder"); }, {file});
}

}  // namespace
}  // namespace lase

#include "lase/base/safetensors.h"

#include "lase/base/file.h"
#include "lase/base/safetensors_header.h"

#include "support.h"

namespace lase {
namespace {

class Safetensors : public FolderTest {
 protected:
  SafetensorsFile open(const std::string& text) const {
    return SafetensorsFile::open(write("a.safetensors", text));
  }
  // A file with this header and 24 bytes of data.
  void expect_rejected(const std::string& header, std::initializer_list<std::string> parts,
                       std::source_location where = std::source_location::current()) const {
    expect_error([&] { open(safetensors(header, std::string(24, '\0'))); }, parts, where);
  }
};

TEST_F(Safetensors, RoundTrip) {
  const std::vector<uint8_t> bytes = {1, 2, 3};
  const std::vector<int64_t> wide = {-1, 1LL << 60};
  const Floats matrix = {1, 2, 3, 4, 5, 6};
  SafetensorsWriter writer(path("a"));
  const auto a = writer.declare<uint8_t>("bytes", {3});
  const auto b = writer.declare<float>("matrix", {2, 3});
  const auto c = writer.declare<int64_t>("wide", {2});
  const auto d = writer.declare<int32_t>("none", {0, 5});
  writer.begin({{"key", "a \"quoted\" value\n"}});
  writer.write(d, 0, std::span<const int32_t>());
  writer.write(c, 0, std::span<const int64_t>(wide));
  writer.write(b, 3, std::span<const float>(matrix).subspan(3));
  writer.write(b, 0, std::span<const float>(matrix).first(3));
  writer.write(a, 0, std::span<const uint8_t>(bytes));
  writer.commit();

  const auto file = SafetensorsFile::open(path("a"));
  EXPECT_EQ(file.metadata().at("key"), "a \"quoted\" value\n");
  EXPECT_EQ(file.tensors().size(), 4u);
  const auto read = file.get<float>("matrix", {2, 3});
  EXPECT_EQ(Floats(read.begin(), read.end()), matrix);
  EXPECT_EQ(file.get<int64_t>("wide", {2})[1], 1LL << 60);
  EXPECT_EQ(file.get<uint8_t>("bytes", {-1})[2], 3);
  EXPECT_TRUE(file.get<int32_t>("none", {0, 5}).empty());
  EXPECT_FALSE(file.has("other"));
}

TEST_F(Safetensors, ArrayOutlivesItsFile) {
  Array<float> values;
  {
    const auto file = open(safetensors(
        R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}      )", bytes_of(Floats{1, 2})));
    values = file.get<float>("x", {2});
  }
  EXPECT_EQ(values[1], 2);
}

TEST_F(Safetensors, GetRejectsWrongNameTypeOrShape) {
  SafetensorsWriter writer(path("a"));
  writer.declare<float>("x", {2, 3});
  writer.begin({});
  writer.commit();
  const auto file = SafetensorsFile::open(path("a"));
  EXPECT_NO_THROW(file.get<float>("x", {-1, 3}));
  expect_error([&] { file.get<float>("y", {2, 3}); }, {"'y' is missing"});
  expect_error([&] { file.get<int32_t>("x", {2, 3}); }, {"'x' has element type F32, expected I32"});
  expect_error([&] { file.get<float>("x", {3, 2}); }, {"[2, 3], expected [3, 2]"});
  expect_error([&] { file.get<float>("x", {6}); }, {"[2, 3], expected [6]"});
  expect_error([&] { file.get<float>("x", {-1}); }, {"expected [any]"});
}

TEST_F(Safetensors, RejectEveryPrefixOfAFile) {
  SafetensorsWriter writer(path("a"));
  writer.declare<float>("x", {4});
  writer.begin({{"k", "v"}});
  writer.commit();
  const std::string whole = read_file(path("a"));
  for (size_t size = 0; size < whole.size(); ++size) {
    expect_error([&] { open(whole.substr(0, size)); }, {"a.safetensors: "});
  }
  expect_error([&] { open(whole + "x"); }, {"describes 16 bytes of data, but the file has 17"});
}

TEST_F(Safetensors, RejectAHeaderLongerThanTheFile) {
  std::string text = safetensors("{}", "");
  text[0] = 3;
  expect_error([&] { open(text); }, {"truncated", "header of 3 bytes"});
  text.replace(0, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
  expect_error([&] { open(text); }, {"header of 18446744073709551615 bytes"});
}

TEST_F(Safetensors, RejectAHeaderThatIsNotAJsonObject) {
  expect_rejected("", {"not valid JSON"});
  expect_rejected("{", {"not valid JSON"});
  expect_rejected("[1]", {"not a JSON object"});
  expect_rejected("{\"\xFF\":1}", {"not valid JSON"});
  expect_rejected(R"({"x":1e999})", {"not valid JSON"});
}

TEST_F(Safetensors, RejectADeeplyNestedHeader) {
  expect_rejected(std::string(5'000'000, '['), {"not a JSON object"});
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"x":)";
  expect_rejected(nested, {"'x' is malformed"});
  expect_rejected(R"({"x":{"shape":[[1]]}})", {"'x' is malformed"});
}

TEST_F(Safetensors, RejectTooManyArrays) {
  const auto header = [](size_t arrays) {
    std::string text = "{";
    for (size_t i = 0; i < arrays; ++i) {
      text += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    }
    return text + "}";
  };
  EXPECT_EQ(open(safetensors(header(kMostArrays), "")).tensors().size(), kMostArrays);
  expect_error([&] { open(safetensors(header(kMostArrays + 1), "")); },
               {"more than 100000 arrays"});
}

TEST_F(Safetensors, BracketsInNamesDoNotCountAsNesting) {
  const std::string name(100, '[');
  const auto file = open(safetensors(
      "{\"" + name + "\\\"[\":" + R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
  EXPECT_TRUE(file.has(name + "\"["));
}

TEST_F(Safetensors, RejectDuplicateNames) {
  const std::string x = R"("x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]})";
  expect_rejected("{" + x + "," + x + "}", {"'x' twice"});
  expect_rejected(R"({"x":{"dtype":"F32","dtype":"F32"}})", {"'dtype' twice"});
}

TEST_F(Safetensors, RejectMalformedEntries) {
  for (const auto* entry : {"1", "{}", R"({"dtype":"F32","shape":[6]})",
                            R"({"dtype":1,"shape":[6],"data_offsets":[0,24]})",
                            R"({"dtype":"F32","shape":6,"data_offsets":[0,24]})",
                            R"({"dtype":"F32","shape":[6],"data_offsets":24})",
                            R"({"dtype":"F32","shape":[6],"data_offsets":[24]})",
                            R"({"dtype":"F32","shape":[6],"data_offsets":[24,0]})",
                            R"({"dtype":"F32","shape":["6"],"data_offsets":[0,24]})",
                            R"({"dtype":"F32","shape":[6.0],"data_offsets":[0,24]})"}) {
    expect_rejected(R"({"x":)" + std::string(entry) + "}", {"a.safetensors: ", "'x'"});
  }
  expect_rejected(R"({"x":{"dtype":"F99","shape":[6],"data_offsets":[0,24]}})",
                  {"unknown element type 'F99'"});
  expect_rejected(R"({"__metadata__":[]})", {"metadata"});
  expect_rejected(R"({"__metadata__":{"a":1}})", {"'a' is not a string"});
}

TEST_F(Safetensors, RejectWrongShapes) {
  for (const auto* shape :
       {"[5]", "[7]", "[]", "[-6]", "[6,0]", "[4611686018427387904,4]", "[18446744073709551615]",
        "[9223372036854775807]", "[99999999999999999999]"}) {
    expect_rejected(
        R"({"x":{"dtype":"F32","shape":)" + std::string(shape) + R"(,"data_offsets":[0,24]}})",
        {"a.safetensors: ", "'x'"});
  }
}

TEST_F(Safetensors, RejectWrongOffsets) {
  const auto two = [](const std::string& x, const std::string& y) {
    return R"({"x":{"dtype":"F32","shape":[4],"data_offsets":)" + x +
           R"(},"y":{"dtype":"F32","shape":[2],"data_offsets":)" + y + "}}";
  };
  EXPECT_NO_THROW(open(safetensors(two("[0,16]", "[16,24]"), std::string(24, '\0'))));
  EXPECT_NO_THROW(open(safetensors(two("[8,24]", "[0,8]"), std::string(24, '\0'))));
  expect_rejected(two("[0,16]", "[8,16]"), {"overlap or leave a gap"});
  expect_rejected(two("[0,16]", "[0,8]"), {"overlap or leave a gap"});
  expect_rejected(two("[4,20]", "[20,28]"), {"truncated", "'y' ends at byte 28"});
  expect_rejected(two("[8,24]", "[-8,0]"), {"'y'", "not a non-negative integer"});
  expect_rejected(R"({"x":{"dtype":"F32","shape":[5],"data_offsets":[4,24]}})", {"gap at byte 0"});
  expect_rejected(R"({"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})",
                  {"describes 16 bytes of data, but the file has 24"});
  expect_rejected(two("[9223372036854775791,9223372036854775807]", "[0,8]"), {"truncated", "'x'"});
}

TEST_F(Safetensors, RejectUnalignedArrays) {
  const auto file = open(safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                     R"("x":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                                     std::string(5, '\0')));
  EXPECT_NO_THROW(file.get<uint8_t>("a", {1}));
  expect_error([&] { file.get<float>("x", {1}); }, {"'x' is not aligned"});
}

TEST_F(Safetensors, AreNotWrittenWithoutCommit) {
  {
    SafetensorsWriter writer(path("a"));
    writer.declare<float>("x", {4});
    writer.begin({});
  }
  EXPECT_EQ(files(), Strings{});
}

TEST_F(Safetensors, RejectAnArrayThatOverflows) {
  SafetensorsWriter writer(path("a"));
  expect_error([&] { writer.declare<float>("x", {1LL << 40, 1LL << 40}); }, {"'x'", "too large"});
}

}  // namespace
}  // namespace lase

#include "lase/base/lase_file.h"

#include "support.h"

namespace lase {
namespace {

class LaseFile : public FolderTest {
 protected:
  nlohmann::json description(const std::string& text) const {
    Metadata metadata = file_metadata(kModelFile, {});
    metadata["model"] = text;
    SafetensorsWriter writer(path("m"));
    writer.begin(metadata);
    writer.commit();
    return file_description(open_lase_file(path("m"), kModelFile), kModelFile);
  }
};

TEST_F(LaseFile, ReadsTheDescription) {
  EXPECT_EQ(description(R"({"a": [{"b": "\\\"[["}]})"),
            nlohmann::json({{"a", {{{"b", "\\\"[["}}}}}));
  expect_error([&] { description("[]"); }, {path("m"), "is not a JSON object"});
  expect_error([&] { description("{"); }, {path("m"), "is not a JSON object"});
  expect_error([&] { description(""); }, {path("m"), "is missing"});
}

TEST_F(LaseFile, RejectsNestingThatWouldOverflowTheStack) {
  const auto nested = [](size_t depth) {
    return R"({"a": )" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(description(nested(99)).size(), 1U);
  EXPECT_EQ(description(R"({"a": ")" + std::string(200, '[') + R"("})").size(), 1U);
  expect_error([&] { description(nested(100)); }, {path("m"), "is nested too deeply"});
  expect_error([&] { description(nested(1'000'000)); }, {path("m"), "is nested too deeply"});
}

}  // namespace
}  // namespace lase

#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

class SchemaTest : public FolderTest {
 protected:
  Graph read(const std::string& format, const std::string& text, Strings more = {},
             const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("links.csv", text));
    return import_graph(format, more, schema);
  }
};

TEST_F(SchemaTest, UndoesNamesOfSeparateDirections) {
  const auto earlier = read("typed", "a,b,knows\nb,c,likes\n", {"--separate-directions"});
  EXPECT_EQ(texts(earlier.attribute_names),
            (Strings{"out knows", "out likes", "in knows", "in likes"}));
  const Schema schema = schema_of(earlier);
  EXPECT_EQ(texts(schema.attribute_names), (Strings{"knows", "likes"}));
  const auto graph = read("typed", "x,y,likes\n", {"--separate-directions"}, &schema);
  EXPECT_NO_THROW(require_schema(graph, earlier));
  EXPECT_EQ(arc(graph, "x", "y"), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(arc(graph, "y", "x"), (Floats{0, 0, 0, 1}));
}

TEST_F(SchemaTest, RejectsOtherAttributes) {
  const auto earlier = read("links", "source,target,x,y\na,b,1,2\n");
  const Schema schema = schema_of(earlier);
  const auto check = [&](const std::string& text, const Strings& more) {
    require_schema(read("links", text, more, &schema), earlier);
  };
  EXPECT_NO_THROW(check("source,target,x,y\nc,d,3,4\n", {}));
  expect_error([&] { check("source,target,x\nc,d,3\n", {}); },
               {"2 link attributes", "the new one has 1"});
  expect_error([&] { check("source,target,x,z\nc,d,3,4\n", {}); },
               {"2 link attributes", "the new one has 1"});
  expect_error([&] { check("source,target,x,y\nc,d,3,4\n", {"--separate-directions"}); },
               {"without separate_directions"});
}

TEST_F(SchemaTest, RejectsADamagedRecipe) {
  auto earlier = read("contacts", "a b 1\nb c 2\n");
  for (const auto& damaged : {nlohmann::json("text"), nlohmann::json({1, nullptr})}) {
    earlier.preprocessing["slice_boundaries"] = damaged;
    const Schema schema = schema_of(earlier);
    expect_error([&] { read("contacts", "a b 1\n", {}, &schema); },
                 {"earlier graph", "'slice_boundaries'"});
  }
}

}  // namespace
}  // namespace lase

#include "lase/embed/features_file.h"

#include <limits>

#include "support.h"

namespace lase {
namespace {

class FeaturesFile : public FolderTest {
 protected:
  // Writes features of two nodes, in two tables, and returns their description.
  nlohmann::json save() const {
    LearnedFeatures learned;
    learned.options.order = Order::kBoth;
    learned.names = make_string_table(Strings{"a", "b"});
    learned.embedding.nodes = 2;
    learned.embedding.tables = {{.width = 1, .center = {1, 2}, .context = {}},
                                {.width = 2, .center = {3, 4, 5, 6}, .context = {7, 8, 9, 10}}};
    ArrayWriter writer(path("f"));
    auto about = add_learned(writer, learned);
    writer.finish({});
    return about;
  }
  LearnedFeatures load(const nlohmann::json& about) const {
    return get_learned(SafetensorsFile::open(path("f")), about);
  }
};

TEST_F(FeaturesFile, RoundTrips) {
  const auto learned = load(save());
  EXPECT_TRUE(learned.present());
  EXPECT_EQ(learned.options.order, Order::kBoth);
  EXPECT_EQ(texts(learned.names), (Strings{"a", "b"}));
  EXPECT_EQ(learned.embedding.rows(), (Floats{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(learned.embedding.tables[1].context, (Floats{7, 8, 9, 10}));
  EXPECT_FALSE(load(nullptr).present());
}

TEST_F(FeaturesFile, RejectsDamagedSizes) {
  const auto rejects = [&](const nlohmann::json& change) {
    nlohmann::json about = save();
    about.merge_patch(change);
    expect_error([&] { load(about); }, {path("f")});
  };
  rejects({{"nodes", 3}});
  rejects({{"nodes", -1}});
  rejects({{"tables", {{{"width", 2}, {"two", false}}}}});
  rejects({{"tables", {{{"width", -1}, {"two", false}}}}});
  rejects({{"tables", {{{"two", false}}}}});
}

// Without nodes, the sizes of the arrays do not limit the widths, and their sum would overflow.
TEST_F(FeaturesFile, RejectsTablesWithoutNodes) {
  nlohmann::json about = save();
  const int64_t width = std::numeric_limits<int64_t>::max();
  ArrayWriter writer(path("f"));
  for (const char* name : {"learned.0.center", "learned.1.center"}) {
    writer.add(name, Array<float>(), {0, width});
  }
  writer.finish({});
  const nlohmann::json table = {{"width", width}, {"two", false}};
  about["nodes"] = 0;
  about["tables"] = {table, table};
  expect_error([&] { load(about); }, {path("f"), "damaged"});
}

}  // namespace
}  // namespace lase

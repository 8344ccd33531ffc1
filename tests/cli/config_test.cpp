#include "support.h"

namespace lase {
namespace {

class Config : public FolderTest {
 protected:
  Config() {
    write("contacts.csv", "source,target,time\na,b,0\nb,a,4\nb,c,8\n");
    write("links.csv", "source,target,x,y,z\na,b,1,2,3\n");
  }
  CliResult contacts(const std::string& config, const Strings& more = {}) const {
    return run("contacts", config, more);
  }
  CliResult links(const std::string& config, const Strings& more = {}) const {
    return run("links", config, more);
  }

 private:
  CliResult run(const std::string& kind, const std::string& config, const Strings& more) const {
    Strings all = {"import",        kind,       path(kind + ".csv"),       "--out",
                   path("g.graph"), "--config", write("run.toml", config), "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  }
};

TEST_F(Config, SetsValuesAndSwitches) {
  const auto result =
      contacts("# import settings\nslices = 5\ncounts = \"none\"\nseparate_directions = true\n");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["link_attributes"], 10);
  EXPECT_EQ(result.json()["separate_directions"], true);
  EXPECT_EQ(contacts("slices = 5\nseparate_directions = false\n").json()["link_attributes"], 5);
}

TEST_F(Config, SetsLists) {
  const auto result = links("attributes = [\"x\", \"z\"]\n");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["link_attributes"], 2);
}

TEST_F(Config, IsOverriddenByTheCommandLine) {
  const std::string config = "slices = 5\ncounts = \"binary\"\n";
  EXPECT_EQ(contacts(config, {"--slices", "7"}).json()["link_attributes"], 7);
  EXPECT_EQ(contacts(config, {"--slices=7"}).json()["link_attributes"], 7);
  EXPECT_EQ(links("attributes = [\"x\", \"z\"]\n", {"--attributes", "y"}).json()["link_attributes"],
            1);
}

TEST_F(Config, SetsRequiredOptions) {
  const auto config = write("run.toml", "out = \"" + path("from-config.graph") + "\"\n");
  EXPECT_EQ(run_cli({"import", "links", path("links.csv"), "--config=" + config}).code, 0);
  EXPECT_EQ(files().front(), "contacts.csv");
  EXPECT_EQ(files()[1], "from-config.graph");
}

TEST_F(Config, UnknownKeysAndBadValuesAreBadUsage) {
  for (const std::string config :
       {"slises = 5\n", "slices = \"few\"\n", "counts = \"cubed\"\n",
        "separate_directions = \"maybe\"\n", "separate_directions = 99999999999999999999\n"}) {
    const auto result = contacts(config);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_NE(contacts("slises = 5\n")
                .err.find("run.toml: unknown option 'slises'; did you mean --slices?"),
            std::string::npos);
  EXPECT_NE(contacts("separate_directions = \"maybe\"\n")
                .err.find("--separate-directions 'maybe': must be true or false"),
            std::string::npos);
  EXPECT_EQ(files(), (Strings{"contacts.csv", "links.csv", "run.toml"}));
}

TEST_F(Config, CannotSendEscapeSequencesToATerminal) {
  for (const std::string config :
       {"slices = \"\x1b[31mred\"\n", "\x1b[31mred = 1\n", "counts = \"\x1b[31mred\"\n"}) {
    const auto result = contacts(config);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("\\x1b[31mred"), std::string::npos) << result.err;
  }
}

TEST_F(Config, MustExist) {
  const auto result = run_cli({"info", path("g.graph"), "--config", path("none.toml")});
  expect_rejected(result, {"none.toml"});
  EXPECT_EQ(run_cli({"info", path("g.graph"), "--config"}).code, 2);
}

}  // namespace
}  // namespace lase

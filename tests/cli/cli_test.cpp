#include <algorithm>
#include <cstdlib>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/version.h"

#include "support.h"

namespace lase {
namespace {

class Cli : public FolderTest {
 protected:
  Cli() {
    write("links.csv", "source,target,amount\na,b,1\nb,c,2\na,b,3\nc,c,1\n");
    write("nodes.csv", "id,team,part\na,x,train\nb,y,val\nc,,test\n");
  }
  Strings import_links(const Strings& more = {}) const {
    Strings all = {"import", "links", path("links.csv"), "--out", path("g.graph")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(Cli, ImportReadsPipes) {
  const std::string more = join(" --nodes ", path("nodes.csv"), " --label team --out ");
  const auto import = [&](const std::string& input, const std::string& links,
                          const std::string& out) {
    const std::string command = join(input, LASE_CLI, " import links ", links, more, path(out),
                                     " > ", path("printed"), " 2>&1");
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(path("printed"));
    return contents(open_graph(path(out)));
  };
  const auto expected = import("", path("links.csv"), "file.graph");
  EXPECT_EQ(import(join("cat ", path("links.csv"), " | "), "/dev/stdin", "a.graph"), expected);
  EXPECT_EQ(import(join("gzip -c ", path("links.csv"), " | "), "/dev/stdin", "b.graph"), expected);
  EXPECT_EQ(import(join("cat ", path("links.csv"), " | "), "/dev/fd/0", "c.graph"), expected);
}

TEST_F(Cli, ImportPrintsASummary) {
  const auto result =
      run_cli(import_links({"--nodes", path("nodes.csv"), "--label", "team", "--split", "part"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const std::string part :
       {"nodes            3", "links            2", "link attributes  1, dense",
        "labels           2 classes, single-label, unknown for 1 nodes",
        "split            1 train, 1 val, 1 test", "merged           4 rows into 2 links",
        "self loops       1 dropped", "written          "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  }
  const auto info = run_cli({"info", path("g.graph")});
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find("links            2"), std::string::npos) << info.out;
}

TEST_F(Cli, PrintsJsonOnStdoutAndTextOnStderr) {
  const auto result = run_cli(import_links({"--json"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
  EXPECT_NE(result.err.find("links            2"), std::string::npos) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["links"], 2);
  EXPECT_EQ(json["raw_links"], 4);
  EXPECT_EQ(json["merged"], 1);
  EXPECT_EQ(json["self_loops"], 1);
  EXPECT_EQ(json["out"], path("g.graph"));
}

TEST_F(Cli, InfoHasTheDocumentedJsonKeys) {
  ASSERT_EQ(
      run_cli(import_links({"--nodes", path("nodes.csv"), "--label", "team", "--split", "part"}))
          .code,
      0);
  const auto result = run_cli({"info", path("g.graph"), "--json"});
  EXPECT_EQ(result.code, 0);
  const nlohmann::json expected = {
      {"nodes", 3},         {"links", 2},           {"arcs", 4},
      {"node_features", 0}, {"link_attributes", 1}, {"link_layout", "dense"},
      {"labels", 2},        {"train", 1},           {"val", 1},
      {"test", 1}};
  const auto json = result.json();
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(json[key], value) << key;
}

TEST_F(Cli, EveryCommandHasHelp) {
  for (const Strings& command : std::vector<Strings>{{},
                                                     {"import"},
                                                     {"import", "links"},
                                                     {"import", "contacts"},
                                                     {"import", "typed"},
                                                     {"import", "sets"},
                                                     {"import", "authors"},
                                                     {"import", "ogb"},
                                                     {"partition"},
                                                     {"info"}}) {
    Strings arguments = command;
    arguments.emplace_back("--help");
    const auto result = run_cli(arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find("Usage: lase"), std::string::npos) << result.out;
  }
  const auto help = run_cli({"import", "contacts", "--help"}).out;
  for (const std::string part : {"--slices INT=0", "--slicing", "--json", "--threads", "--out"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
  for (const std::string part : {"\nExamples:\n  lase import contacts ", "--regress A,B,C  "}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
}

TEST_F(Cli, PartitionsAGraph) {
  ASSERT_EQ(run_cli({"generate", "planted", "--nodes", "400", "--links", "2000", "--out",
                     path("p.graph")})
                .code,
            0);
  const Strings command = {"partition", path("p.graph"), "--parts", "4",
                           "--method",  "streaming",     "--out",   path("p.parts")};
  const auto result = run_cli(command);
  EXPECT_EQ(result.code, 0) << result.err;
  for (const std::string part : {"parts            4, by streaming\n", "largest part     1.",
                                 " of 2,000 (", "halo             ", "written          "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  }
  Strings with_json = command;
  with_json.emplace_back("--json");
  const auto json = run_cli(with_json).json();
  EXPECT_EQ(json["parts"], 4);
  EXPECT_EQ(json["method"], "streaming");
  EXPECT_EQ(json["links"], 2000);
  EXPECT_LT(json["cut_links"], 1500);
  EXPECT_EQ(files().size(), 3U + 5U);  // two tables, the graph, `nodes` and four parts

  const auto info = run_cli({"info", path("p.parts")});
  EXPECT_NE(info.out.find("nodes            400\n"), std::string::npos) << info.out << info.err;
  EXPECT_NE(info.out.find("parts            4, with "), std::string::npos) << info.out;
  EXPECT_EQ(run_cli({"info", path("p.parts"), "--json"}).json()["parts"], 4);
}

TEST_F(Cli, PartitionRejectsWhatCannotBePartitioned) {
  ASSERT_EQ(run_cli(import_links()).code, 0);
  const auto partition = [&](const Strings& more) {
    Strings all = {"partition", path("g.graph"), "--out", path("g.parts")};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  };
  expect_bad_usage(partition({"--parts", "0"}), {"--parts 0"});
  expect_bad_usage(partition({"--parts", "2", "--method", "magic"}), {"--method"});
  expect_bad_usage(partition({"--parts", "4"}), {"--parts 4: the graph has only 3 nodes"});
  ASSERT_EQ(run_cli(import_links({"--link-label", "amount"})).code, 0);
  expect_rejected(partition({"--parts", "2"}), {"only graphs without them can be partitioned"});
  EXPECT_EQ(files(), (Strings{"g.graph", "links.csv", "nodes.csv"}));
  ASSERT_EQ(run_cli(import_links()).code, 0);
  // Files of other programs are kept, whatever their names.
  write("other/part-00000.csv", "a,b\n");
  expect_rejected(run_cli({"partition", path("g.graph"), "--out", path("other")}),
                  {"contains 'part-00000.csv', which is not a file of a partitioned graph"});
  std::filesystem::create_directories(path("in"));
  std::filesystem::rename(path("g.graph"), path("in/part-1.graph"));
  expect_rejected(run_cli({"partition", path("in/part-1.graph"), "--out", path("in")}),
                  {"part-1.graph: is in the folder to write to"});
}

TEST_F(Cli, VersionHasBuildDetails) {
  const auto result = run_cli({"--version"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(join("lase ", kVersion, "\n"))) << result.out;
  for (const std::string part : {"\ncompiler  ", "\nbuild type  ", "\ninstruction set  "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
}

TEST_F(Cli, BadUsageExitsWithTwoAndWritesNothing) {
  for (const Strings& arguments :
       std::vector<Strings>{{},
                            {"import"},
                            {"import", "pictures"},
                            {"info"},
                            {"import", "links", path("links.csv")},
                            import_links({"--no-such-flag"}),
                            import_links({"--duplicate-links", "maybe"}),
                            import_links({"--threads", "many"}),
                            import_links({"one-too-many"}),
                            {"import", "contacts", path("links.csv"), "--slices", "few", "--out",
                             path("g.graph")}}) {
    expect_bad_usage(run_cli(arguments), {});
  }
  EXPECT_EQ(files(), (Strings{"links.csv", "nodes.csv"}));
}

TEST_F(Cli, SaysWhatIsWrongWithTheCommandLine) {
  const auto expect = [](const Strings& arguments, const std::string& message) {
    expect_bad_usage(run_cli(arguments), {"lase: " + message + "\n"});
  };
  expect({"foo"}, "unknown command 'foo'; run `lase --help` for the list");
  expect({"tran", "g"}, "unknown command 'tran'; did you mean train?");
  expect({"import", "conatcts", "x"}, "unknown import format 'conatcts'; did you mean contacts?");
  expect({"info", "g", "--jsno"}, "unknown option '--jsno'; did you mean --json?");
  expect({"foo", "--out", "x"}, "unknown command 'foo'; run `lase --help` for the list");
  expect({"import", "foo", "x"},
         "unknown import format 'foo'; expected links, contacts, typed, sets, authors, ogb or hgb");
  expect({}, "a command is missing; run `lase --help` for the list");
  expect({"info"}, "file is required; run `lase info --help`");
  expect({"info", "g", "--foo=1"}, "unknown option '--foo'; run `lase info --help`");
  expect({"info", "g", "h"}, "unexpected argument 'h'; run `lase info --help`");
  expect({"info", "g", "--threads"}, "--threads: needs a value; run `lase info --help`");
  expect({"info", "g", "--threads", "many"}, "--threads 'many': must be an integer");
  expect({"info", "g", "--threads", "5000"}, "--threads 5000: must be from 0 to 4096");
  expect({"info", "g", "--threads", "1", "--threads", "2"},
         "--threads: may be given only once; run `lase info --help`");
  expect(import_links({"--duplicate-links", "maybe"}),
         "--duplicate-links 'maybe': must be one of merge, keep, error");
  expect(
      import_links({"--directed", "--separate-directions"}),
      "--directed and --separate-directions are mutually exclusive: a directed link has only one "
      "direction");
}

TEST_F(Cli, NamesTheOptionOfAMissingColumn) {
  expect_rejected(
      run_cli({"import", "contacts", path("links.csv"), "--time", "foo", "--out", path("g.graph")}),
      {"has no column 'foo' for --time; it has 3 columns: source, target, amount"});
}

TEST_F(Cli, WritesTheSameBytesWithAnyNumberOfThreads) {
  std::string text = "source,target,amount,city\n";
  for (int64_t i = 0; text.size() < 9'000'000; ++i) {
    text += join(i * 7919 % 20'011, ",", i * 104'729 % 20'011, ",", i % 97, ",c", i % 7, "\n");
  }
  write("links.csv", text);
  const Strings flags = {"--categorical", "city", "--separate-directions", "--split", "65/15/20"};
  for (const std::string threads : {"1", "2", "3"}) {
    auto arguments = import_links(flags);
    arguments[4] = path(threads + ".graph");
    arguments.insert(arguments.end(), {"--threads", threads});
    ASSERT_EQ(run_cli(arguments).code, 0);
  }
  const auto one = read_file(path("1.graph"));
  EXPECT_TRUE(read_file(path("2.graph")) == one);
  EXPECT_TRUE(read_file(path("3.graph")) == one);
}

TEST_F(Cli, ReplacesAnExistingGraphOnlyAfterASuccessfulImport) {
  write("g.graph", "precious");
  write("bad.csv", "source,target,amount\na,b,1\nb,c,x\n");
  expect_rejected(run_cli({"import", "links", path("bad.csv"), "--out", path("g.graph")}),
                  {"line 3"});
  EXPECT_EQ(read_file(path("g.graph")), "precious");
  EXPECT_EQ(run_cli(import_links()).code, 0);
  EXPECT_EQ(run_cli({"info", path("g.graph")}).code, 0);
  EXPECT_EQ(files(), (Strings{"bad.csv", "g.graph", "links.csv", "nodes.csv"}));
}

}  // namespace
}  // namespace lase

// Downloads from local servers; nothing else is contacted.

#include "download/download.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"

#include "common/sha256.h"
#include "http_server.h"
#include "support.h"

namespace lase {
namespace {

namespace fs = std::filesystem;
using After = HttpServer::After;

// SHA-256 of "abc" and "abd".
const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string kAbd = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9";

class Download : public FolderTest {
 protected:
  void SetUp() override {
    ::setenv("no_proxy", "127.0.0.1,host.invalid", 1);
    server.serve("/a.txt", "abc");
  }

  RemoteFile file(const std::string& name = "a.txt", const std::string& sum = "") const {
    return {.url = server.url("/" + name), .name = name, .sha256 = sum, .bytes = 3};
  }
  std::string folder() const { return path("data"); }
  DownloadedFile get(const RemoteFile& wanted, const DownloadOptions& options = {}) const {
    return download({wanted}, folder(), options).at(0);
  }
  // Expects an error that leaves all files unchanged.
  void expect_failure(const RemoteFile& wanted, std::initializer_list<std::string> parts,
                      const DownloadOptions& options = {},
                      std::source_location where = std::source_location::current()) const {
    const auto before = files();
    expect_error([&] { get(wanted, options); }, parts, where);
    EXPECT_EQ(files(), before) << where.line();
  }
  // Seconds since the start of the test.
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  std::string text(const std::string& name) const { return read_file(folder() + "/" + name); }

  HttpServer server;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TEST_F(Download, DownloadsAFileOnce) {
  const auto first = get(file());
  EXPECT_EQ(first.path, folder() + "/a.txt");
  EXPECT_EQ(first.bytes, 3);
  EXPECT_EQ(first.sha256, kAbc);
  EXPECT_TRUE(first.fetched);
  EXPECT_FALSE(first.checked);
  EXPECT_EQ(text("a.txt"), "abc");
  EXPECT_EQ(text("SHA256SUMS"), kAbc + "  a.txt\n");
  EXPECT_EQ(files(), (Strings{"data/SHA256SUMS", "data/a.txt"}));

  const auto second = get(file());
  EXPECT_FALSE(second.fetched);
  EXPECT_TRUE(second.checked);
  EXPECT_EQ(second.bytes, 3);
  EXPECT_EQ(second.sha256, kAbc);
  EXPECT_EQ(server.requests("/a.txt"), 1);
}

TEST_F(Download, DownloadsALargeFileCompletely) {
  std::string body;
  for (int i = 0; i < 1 << 20; ++i) body += std::to_string(i);
  server.serve("/large", body);
  int64_t last = 0;
  DownloadOptions options;
  options.progress = [&](const DownloadProgress& progress) {
    EXPECT_EQ(progress.file, "large");
    EXPECT_EQ(progress.total, static_cast<int64_t>(body.size()));
    EXPECT_GE(progress.received, last);
    last = progress.received;
  };
  get(file("large"), options);
  EXPECT_EQ(text("large"), body);
  EXPECT_EQ(last, static_cast<int64_t>(body.size()));
}

TEST_F(Download, RejectsAWrongChecksum) {
  expect_failure(file("a.txt", kAbd),
                 {"data/a.txt: not saved", server.url("/a.txt"), "SHA-256 checksum " + kAbc,
                  "expected " + kAbd + " (published)"});
  EXPECT_FALSE(fs::exists(folder()));

  write("data/a.txt", "older");
  expect_failure(file("a.txt", kAbd), {"not saved"});
  EXPECT_EQ(text("a.txt"), "older");
  EXPECT_FALSE(fs::exists(folder() + "/SHA256SUMS"));
}

TEST_F(Download, ChecksARecordedChecksum) {
  write("data/SHA256SUMS", kAbd + "  other\n" + kAbc + "  a.txt\nnot a sum\n");
  get(file());
  server.serve("/a.txt", "abd");
  fs::remove(folder() + "/a.txt");
  expect_failure(file(), {"checksum " + kAbd,
                          "expected " + kAbc + " (recorded in " + folder() + "/SHA256SUMS)"});
  EXPECT_EQ(text("SHA256SUMS"), kAbd + "  other\n" + kAbc + "  a.txt\nnot a sum\n");
}

TEST_F(Download, KeepsTheChecksumsOfOtherFiles) {
  write("data/SHA256SUMS", kAbd + "  other\n" + kAbd + " *a.txt.old\n# a remark\n");
  get(file());
  EXPECT_EQ(text("SHA256SUMS"),
            kAbd + "  other\n" + kAbd + " *a.txt.old\n# a remark\n" + kAbc + "  a.txt\n");
}

TEST_F(Download, DownloadsADamagedFileAgain) {
  get(file());
  write("data/a.txt", "abx");
  EXPECT_TRUE(get(file()).fetched);
  EXPECT_EQ(text("a.txt"), "abc");
  write("data/a.txt", "abx");
  EXPECT_TRUE(get(file("a.txt", kAbc)).fetched);
  EXPECT_EQ(text("a.txt"), "abc");
}

TEST_F(Download, AGivenChecksumOverridesTheKnownOne) {
  std::string upper = kAbc;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  write("data/SHA256SUMS", kAbd + "  a.txt\n");
  EXPECT_TRUE(get(file("a.txt", kAbd), {.sha256 = upper}).checked);
  EXPECT_EQ(text("SHA256SUMS"), kAbc + "  a.txt\n");
  server.serve("/b.txt", "abc");
  expect_failure(file("b.txt"), {"expected " + kAbd + " (given by --sha256)"}, {.sha256 = kAbd});
  expect_failure(file("b.txt"), {"--sha256 'abc': must be 64 hexadecimal digits"},
                 {.sha256 = "abc"});
  expect_error(
      [&] {
        download({file(), file("b.txt")}, folder(), {.sha256 = kAbc});
      },
      {"--sha256: applies to a single file", "2 files"});
}

TEST_F(Download, AMirrorServesFilesByName) {
  const RemoteFile elsewhere = {
      .url = "http://host.invalid/deep/a.txt", .name = "a.txt", .bytes = 3};
  server.serve("/mirror/a.txt", "abc");
  get(elsewhere, {.mirror = server.url("/mirror//")});
  EXPECT_EQ(server.requests("/mirror/a.txt"), 1);
}

TEST_F(Download, ReportsServerErrors) {
  expect_failure(file("none"), {server.url("/none"),
                                "cannot be downloaded: the server returned HTTP status 404"});
  server.answer("/broken", "HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nabc");
  expect_failure(file("broken"), {"the server returned HTTP status 500"});
  server.answer("/nothing", "HTTP/1.1 204 No Content\r\n\r\n");
  expect_failure(file("nothing"), {"the server returned HTTP status 204"});
  server.serve("/empty", "");
  expect_failure(file("empty"), {server.url("/empty"), "is empty"});
  server.answer("/garbage", "\x01\x02 no http\r\n\r\n");
  expect_failure(file("garbage"), {server.url("/garbage"), "cannot be downloaded"});
  server.answer("/gone", "");
  expect_failure(file("gone"), {"the connection closed after 0 bytes"});
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(Download, ReportsAnUnreachableServer) {
  std::string unused;
  {
    const HttpServer gone;
    unused = gone.url("/a.txt");
  }
  expect_failure({.url = unused, .name = "a.txt", .bytes = 3},
                 {unused, "cannot be downloaded", "Failed to connect"});
  expect_failure({.url = "http://host.invalid/a.txt", .name = "a.txt", .bytes = 3},
                 {"http://host.invalid/a.txt", "unknown host, or no network connection"});
}

TEST_F(Download, RejectsATruncatedBody) {
  server.answer("/cut", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
  expect_failure(file("cut"), {"the connection closed after 3 of 10 bytes"});
  server.answer("/chunk",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nab");
  expect_failure(file("chunk"), {server.url("/chunk"), "the connection closed after 5 bytes"});
}

TEST_F(Download, FollowsRedirects) {
  server.redirect("/here", "/there");
  server.redirect("/there", server.url("/a.txt"));
  EXPECT_EQ(get(file("here")).sha256, kAbc);
  server.redirect("/round", "/round");
  expect_failure(file("round"), {"redirected more than 10 times"});
}

TEST_F(Download, AllowsOnlyHttpAndHttps) {
  const auto local = write("secret", "abc");
  expect_failure({.url = "file://" + local, .name = "a.txt", .bytes = 3},
                 {"file://", "expected http:// or https://"});
  server.redirect("/local", "file://" + local);
  expect_failure(file("local"), {"redirected to 'file://"});
  server.redirect("/ftp", "ftp://127.0.0.1/a.txt");
  expect_failure(file("ftp"), {"redirected to 'ftp://"});
}

TEST_F(Download, GivesUpOnSilentAndSlowServers) {
  const DownloadOptions hasty = {.stall_seconds = 1};
  server.answer("/silent", "", After::kSilence);
  expect_failure(file("silent"), {"does not respond or is too slow"}, hasty);
  server.answer("/half", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nabc", After::kSilence);
  expect_failure(file("half"), {"does not respond or is too slow"}, hasty);
  server.answer("/slow", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", After::kTrickle);
  expect_failure(file("slow"), {"does not respond or is too slow"}, hasty);
  EXPECT_LT(elapsed(), 20);
}

TEST_F(Download, RejectsAFileThatIsTooLarge) {
  server.answer("/flood", "HTTP/1.1 200 OK\r\n\r\n", After::kFlood);
  expect_failure(file("flood"), {server.url("/flood"), "expected at most 16777228"});
  server.answer("/huge", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nabc");
  expect_failure(file("huge"), {"sends 99999999999 bytes or more, expected at most 16777228"});
}

TEST_F(Download, CanBeStopped) {
  server.answer("/long", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nabc", After::kSilence);
  std::atomic<bool> stop{false};
  const DownloadOptions options = {.stop = &stop,
                                   .progress = [&](const DownloadProgress&) { stop = true; }};
  expect_failure(file("long"), {server.url("/long"), "stopped"}, options);
  EXPECT_LT(elapsed(), 20);
}

TEST_F(Download, ReportsAFolderThatCannotBeCreated) {
  const auto taken = write("taken", "");
  expect_error([&] { download({file()}, taken); }, {"taken: cannot be created"});
  expect_error([&] { download({file()}, taken + "/below"); }, {"cannot be created"});
  expect_error([&] { download({file()}, "/proc/lase"); }, {"/proc/lase: cannot be created"});
  expect_error([&] { download({file()}, "/proc"); }, {"/proc/a.txt: cannot be written"});
  EXPECT_EQ(server.requests("/a.txt"), 0);
  fs::create_directories(folder() + "/a.txt");
  expect_failure(file(), {"a.txt: cannot be written: it exists and is not a regular file"});
}

// A file size limit fails like a full disk.
TEST_F(Download, ReportsAFullDisk) {
  server.serve("/large", std::string(100'000, 'x'));
  server.answer("/unknown", "HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'));
  for (const std::string name : {"large", "unknown"}) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {50'000, 50'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        get(file(name));
      } catch (const Error& error) {
        const std::string message = error.what();
        ::_exit(message.find(name + ": cannot be written: File too large") != message.npos ? 0 : 2);
      }
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << name;
    EXPECT_EQ(files(), Strings{});
  }
}

// https from a server with a self-signed certificate.
class DownloadTls : public Download {
 protected:
  void SetUp() override {
    Download::SetUp();
    if (std::system("command -v openssl >/dev/null && command -v python3 >/dev/null") != 0) {
      GTEST_SKIP() << "openssl and python3 are needed to start an https server";
    }
    const std::string make =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test"
        " -addext subjectAltName=IP:127.0.0.1 -keyout " +
        path("key.pem") + " -out " + certificate() + " 2>/dev/null";
    ASSERT_EQ(std::system(make.c_str()), 0);
    start();
  }
  void TearDown() override {
    if (server_ <= 0) return;
    ::kill(server_, SIGTERM);
    ::waitpid(server_, nullptr, 0);
  }
  std::string certificate() const { return path("cert.pem"); }
  RemoteFile safe(const std::string& name) const {
    return {.url = "https://127.0.0.1:" + port_ + "/" + name, .name = name, .bytes = 3};
  }

 private:
  // Serves "abc", or redirects /away to the http server; prints its port on the first line.
  void start() {
    const std::string script = write("server.py", R"(
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        away = self.path == "/away"
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", sys.argv[3])
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"abc")
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
)");
    Strings words = {"python3", script, certificate(), path("key.pem"), server.url("/a.txt")};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    const int error = ::posix_spawnp(&server_, "python3", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    ASSERT_EQ(error, 0);
    char c = 0;
    while (::read(ends[0], &c, 1) == 1 && c != '\n') port_ += c;
    ::close(ends[0]);
    ASSERT_FALSE(port_.empty());
  }

  pid_t server_ = 0;
  std::string port_;
};

TEST_F(DownloadTls, RejectsAnUntrustedCertificate) {
  expect_failure(safe("a.txt"),
                 {safe("a.txt").url, "the certificate of the server cannot be verified", "--ca"});
}

TEST_F(DownloadTls, AcceptsATrustedCertificate) {
  const DownloadOptions trusting = {.ca_file = certificate()};
  EXPECT_EQ(get(safe("a.txt"), trusting).sha256, kAbc);
  server.redirect("/up", safe("b.txt").url);
  EXPECT_EQ(get(file("up"), trusting).sha256, kAbc);
}

TEST_F(DownloadTls, RejectsRedirectsFromHttpsToHttp) {
  expect_failure(safe("away"), {"redirected to 'http://127.0.0.1:", "protocol is not allowed"},
                 {.ca_file = certificate()});
  EXPECT_EQ(server.requests("/a.txt"), 0);
}

TEST_F(DownloadTls, RejectsAFileWithoutCertificates) {
  expect_failure(safe("a.txt"), {safe("a.txt").url, "cannot be downloaded"},
                 {.ca_file = write("bad.pem", "no certificate")});
}

TEST(DataSets, AreWellFormed) {
  std::set<std::string> names;
  for (const auto& set : data_sets()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name;
    EXPECT_EQ(&find_data_set(set.name), &set);
    EXPECT_FALSE(set.summary.empty());
    EXPECT_FALSE(set.files.empty());
    EXPECT_TRUE(set.import.starts_with("lase import "));
    for (const auto& file : set.files) {
      EXPECT_TRUE(file.url.starts_with("https://")) << file.url;
      EXPECT_TRUE(file.url.ends_with("/" + file.name)) << file.url;
      EXPECT_TRUE(file.sha256.empty() || file.sha256.size() == 64) << file.name;
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
      EXPECT_GT(file.bytes, 0);
    }
  }
  expect_error([] { find_data_set("reddit"); }, {"'reddit'", "email, workplace, ogbn-proteins"});
}

TEST(DataSets, CommandsContainTheQuotedFolder) {
  EXPECT_EQ(in_folder("a FOLDER/b FOLDER", "x-1/y"), "a x-1/y/b x-1/y");
  EXPECT_EQ(in_folder("a FOLDER/b", "my data"), "a 'my data'/b");
  EXPECT_EQ(in_folder("a FOLDER", "it's"), "a 'it'\\''s'");
}

// All flags of the import commands are valid: only the files are missing.
TEST_F(Download, ImportCommandsAreValid) {
  for (const auto& set : data_sets()) {
    std::istringstream command(in_folder(set.import, folder()));
    Strings words;
    for (std::string word; command >> word;) words.push_back(word);
    words.erase(words.begin());
    expect_rejected(run_cli(words), {folder()});
  }
}

// Two lists of the same links: the second has different ids and self-loops, one of them of a person
// without other links (person 2).
class Email : public Download {
 protected:
  void SetUp() override {
    Download::SetUp();
    put("email-Eu-core-temporal.txt.gz", "58 36 0\n16 47 2\n58 36 5\n36 58 6\n16 36 7\n36 99 9\n");
    put("email-Eu-core.txt.gz", "0 1\n2 2\n3 4\n1 0\n0 0\n3 1\n1 5\n");
    put("email-Eu-core-department-labels.txt.gz", "0 7\n1 8\n2 9\n3 7\n4 10\n5 8\n");
  }
  void put(const std::string& name, const std::string& content) const {
    write_gz("data/" + name, content);
  }
};

TEST_F(Email, MatchesPeopleByTheOrderOfLinks) {
  join_email_departments(folder());
  EXPECT_EQ(text("people.csv"), "id,department\n58,7\n36,8\n16,7\n47,10\n99,8\n");
}

TEST_F(Email, RejectsInconsistentLists) {
  put("email-Eu-core.txt.gz", "0 1\n3 4\n1 0\n1 3\n1 5\n");
  expect_error([&] { join_email_departments(folder()); },
               {"not in the same order as in", "person 16 would be both 3 and 1"});
  put("email-Eu-core.txt.gz", "0 1\n3 4\n1 0\n3 1\n");
  expect_error([&] { join_email_departments(folder()); },
               {"has 5 links between different people, expected 4"});
  put("email-Eu-core.txt.gz", "0 1\n3 4\n1 0\n3 1\n1 6\n");
  expect_error([&] { join_email_departments(folder()); }, {"no department for person 6"});
  EXPECT_FALSE(fs::exists(folder() + "/people.csv"));
}

// The real emails with new ids in the style of SNAP: arbitrary ids in the list with timestamps, and
// ids in order of appearance, with some people who only have self-loops, in the list without.
TEST_F(Email, MatchesEveryoneInTheRealData) {
  if (!fs::exists(LASE_DATA "/README.md"))
    GTEST_SKIP() << "the data folder " LASE_DATA " does not exist";
  std::map<std::string, std::string> department;
  std::istringstream nodes(read_file(LASE_DATA "/email/nodes.csv"));
  for (std::string line; std::getline(nodes, line);) {
    const auto comma = line.find(',');
    department[line.substr(0, comma)] = line.substr(comma + 1, line.rfind(',') - comma - 1);
  }
  const auto graph = import_graph("contacts", {LASE_DATA "/email/contacts.txt.gz"});
  std::string timed;
  std::string plain;
  std::string labels;
  const auto plain_number = [](int64_t node) { return node + node / 100; };
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    const std::string name(graph.nodes.names[u]);
    labels += std::to_string(plain_number(u)) + " " + department.at(name) + "\n";
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t v = graph.neighbor[i];
      for (const char* time : {" 5\n", " 6\n"}) {
        timed += std::to_string(3000 - u) + " " + std::to_string(3000 - v) + time;
      }
      plain += std::to_string(plain_number(u)) + " " + std::to_string(plain_number(v)) + "\n";
    }
    plain += std::to_string(2000 + u) + " " + std::to_string(2000 + u) + "\n";
  }
  put("email-Eu-core-temporal.txt.gz", timed);
  put("email-Eu-core.txt.gz", plain);
  put("email-Eu-core-department-labels.txt.gz", labels);
  join_email_departments(folder());
  std::istringstream people(text("people.csv"));
  std::string line;
  std::getline(people, line);
  int64_t count = 0;
  for (; std::getline(people, line); ++count) {
    const auto comma = line.find(',');
    const int64_t u = 3000 - std::stoll(line.substr(0, comma));
    EXPECT_EQ(line.substr(comma + 1), department.at(std::string(graph.nodes.names[u])));
  }
  EXPECT_EQ(count, 986);
}

TEST_F(Download, CliListsDataSets) {
  const auto result = run_cli({"download"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const auto& set : data_sets()) EXPECT_NE(result.out.find(set.name), std::string::npos);
  const auto json = run_cli({"download", "--json"}).json();
  EXPECT_EQ(json["sets"].size(), data_sets().size());
  EXPECT_EQ(json["sets"][1]["name"], "workplace");
}

TEST_F(Download, CliDownloadsADataSet) {
  server.serve("/CollegeMsg.txt.gz", gzip("1 2 1082040961\n3 4 1082155839\n1 2 1082414391\n"));
  const Strings arguments = {"download", "college-msg",  "--out", folder() + "/",
                             "--url",    server.url(""), "--json"};
  const auto result = run_cli(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["files"][0]["path"], folder() + "/CollegeMsg.txt.gz");
  EXPECT_EQ(json["files"][0]["sha256"], sha256_of_file(folder() + "/CollegeMsg.txt.gz"));
  EXPECT_EQ(json["files"][0]["fetched"], true);
  EXPECT_NE(result.err.find("no published checksum"), std::string::npos);
  EXPECT_NE(result.err.find("  lase import contacts " + folder()), std::string::npos);
  EXPECT_EQ(run_cli(arguments).json()["files"][0]["fetched"], false);
}

TEST_F(Download, CliReportsErrorsInOneSentence) {
  expect_bad_usage(run_cli({"download", "none"}), {"unknown data set 'none'", "college-msg"});
  const Strings base = {"download", "college-msg", "--out", folder(), "--url", server.url("")};
  expect_rejected(run_cli(base), {"CollegeMsg.txt.gz", "the server returned HTTP status 404"});
  server.serve("/CollegeMsg.txt.gz", "abc");
  Strings with_sum = base;
  with_sum.insert(with_sum.end(), {"--sha256", kAbd});
  expect_rejected(run_cli(with_sum), {"CollegeMsg.txt.gz", kAbc, "expected " + kAbd});
  EXPECT_EQ(files(), Strings{});
}

TEST_F(Download, InterruptedCliLeavesNoFiles) {
  server.answer("/CollegeMsg.txt.gz", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nabc",
                After::kSilence);
  Strings words = {LASE_CLI, "download", "college-msg", "--out", folder(), "--url", server.url("")};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, path("err").c_str(),
                                     O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::posix_spawn(&child, LASE_CLI, &actions, nullptr, argv.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  while (server.requests("/CollegeMsg.txt.gz") == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
  EXPECT_NE(read_file(path("err")).find("stopped"), std::string::npos);
  EXPECT_EQ(files(), Strings{"err"});
}

}  // namespace
}  // namespace lase

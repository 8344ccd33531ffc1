#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace lase {

// A local server that responds with arbitrary bytes, one connection at a time.
class HttpServer {
 public:
  enum class After { kClose, kSilence, kTrickle, kFlood };

  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url(const std::string& path) const;
  // Serves a complete file.
  void serve(const std::string& path, std::string_view body);
  // The raw response, and what follows it: close the connection, send nothing, send a byte from
  // time to time, or send bytes without end. Unknown paths return 404.
  void answer(const std::string& path, const std::string& bytes, After after = After::kClose);
  void redirect(const std::string& path, const std::string& target);
  int requests(const std::string& path) const;

 private:
  struct Answer {
    std::string bytes;
    After after = After::kClose;
  };

  void run();
  void respond(int connection);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> done_{false};
  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, int> requests_;
  std::thread thread_;
};

}  // namespace lase

#include "http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace lase {
namespace {

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Waits up to 100 ms; false if the client has closed the connection.
bool still_there(int connection) {
  pollfd state = {.fd = connection, .events = POLLIN, .revents = 0};
  char byte = 0;
  return ::poll(&state, 1, 100) == 0 || ::recv(connection, &byte, 1, 0) > 0;
}

}  // namespace

HttpServer::HttpServer() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 8) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    throw std::runtime_error("cannot start a local server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  done_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string HttpServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void HttpServer::serve(const std::string& path, std::string_view body) {
  answer(path, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
}

void HttpServer::redirect(const std::string& path, const std::string& target) {
  answer(path, "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: " +
                   target + "\r\n\r\n");
}

void HttpServer::answer(const std::string& path, const std::string& bytes, After after) {
  const std::lock_guard lock(mutex_);
  answers_[path] = {.bytes = bytes, .after = after};
}

int HttpServer::requests(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(path);
  return found == requests_.end() ? 0 : found->second;
}

void HttpServer::run() {
  while (!done_) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    respond(connection);
    ::close(connection);
  }
}

void HttpServer::respond(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == request.npos) {
    const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
    if (got <= 0) return;
    request.append(buffer, static_cast<size_t>(got));
  }
  const auto start = request.find(' ') + 1;
  const std::string path = request.substr(start, request.find(' ', start) - start);
  Answer answer = {.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnone\n"};
  {
    const std::lock_guard lock(mutex_);
    ++requests_[path];
    if (answers_.contains(path)) answer = answers_[path];
  }
  bool open = send_all(connection, answer.bytes);
  const std::string flood(1 << 16, 'x');
  while (open && !done_ && answer.after != After::kClose) {
    if (answer.after == After::kFlood) {
      open = send_all(connection, flood);
    } else {
      open =
          still_there(connection) && (answer.after == After::kSilence || send_all(connection, "x"));
    }
  }
  // Half-close, so that data the client still sends does not reset the connection.
  ::shutdown(connection, SHUT_WR);
}

}  // namespace lase

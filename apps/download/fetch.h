#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace lase {

// A download over http or https. Certificates are always verified, and redirects from https to http
// are rejected.
struct FetchRequest {
  std::string url;
  std::string ca_file{};  // certificates to trust instead of the system's
  double connect_seconds = 30;
  // Gives up if fewer than 100 bytes per second arrive for this long.
  int64_t stall_seconds = 60;
  int64_t most_bytes = 0;  // larger files are rejected
  const std::atomic<bool>* stop = nullptr;
  // Called before the first write with the size of the file; 0: unknown.
  std::function<void(int64_t total)> begin{};
  std::function<void(std::span<const std::byte> bytes)> write{};
  std::function<void(int64_t received, int64_t total)> progress{};  // total 0: unknown
};

// Passes the whole file to `write`. Throws Error with the reason, or the exception of a callback.
void fetch(const FetchRequest& request);

}  // namespace lase

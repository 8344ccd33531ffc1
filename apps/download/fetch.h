#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace lase {

// One file to be fetched over http or https. Certificates are always verified; from https no
// redirection leads to http.
struct FetchRequest {
  std::string url;
  std::string ca_file{};  // certificates to trust instead of the system's
  double connect_seconds = 30;
  // Gives up where fewer than 100 bytes a second arrive for so long.
  int64_t stall_seconds = 60;
  int64_t most_bytes = 0;  // refuses to take more
  const std::atomic<bool>* stop = nullptr;
  // The number of bytes that are to come, where the server says it; called ahead of write.
  std::function<void(int64_t total)> begin{};
  std::function<void(std::span<const std::byte> bytes)> write{};
  std::function<void(int64_t received, int64_t total)> progress{};  // total 0: unknown
};

// Hands the whole file to `write`, or throws: Error with the reason, or what a callback threw.
void fetch(const FetchRequest& request);

}  // namespace lase

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lase {

// Incremental SHA-256 checksum.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::span<const std::byte> bytes);
  // The checksum of everything added so far, as 64 hexadecimal digits. More bytes can be added
  // afterwards.
  std::string hex() const;

 private:
  struct Context;  // OpenSSL's
  std::unique_ptr<Context> context_;
};

std::string sha256_of(std::string_view text);
std::string sha256_of_file(const std::string& path);

}  // namespace lase

#include "common/sha256.h"

#include <array>
#include <new>
#include <openssl/evp.h>

#include "lase/base/error.h"
#include "lase/base/file.h"

namespace lase {

struct Sha256::Context {
  EVP_MD_CTX* md = EVP_MD_CTX_new();

  Context() {
    if (md == nullptr) throw std::bad_alloc();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  require(EVP_DigestInit_ex(context_->md, EVP_sha256(), nullptr) == 1,
          "OpenSSL does not provide SHA-256");
}
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context_->md, bytes.data(), bytes.size());
}

std::string Sha256::hex() const {
  const Context copy;  // finalizing makes a context unusable
  EVP_MD_CTX_copy_ex(copy.md, context_->md);
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(copy.md, sum.data(), &size);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[sum[i] >> 4];
    text += kDigits[sum[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.hex();
}

std::string sha256_of_file(const std::string& path) {
  Sha256 sum;
  sum.add(MappedFile::open(path)->bytes());
  return sum.hex();
}

}  // namespace lase

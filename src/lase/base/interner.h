#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lase/base/string_table.h"

namespace lase {

// Assigns ids to strings in the order of first appearance.
class Interner {
 public:
  Interner() : slots_(kSmallest) {}

  static uint64_t hash(std::string_view text);

  // The id of `text`, which is added if it is new. The hash may be computed by another thread.
  int32_t add(std::string_view text, uint64_t hash);
  int32_t add(std::string_view text) { return add(text, hash(text)); }

  std::optional<int32_t> find(std::string_view text, uint64_t hash) const;
  std::optional<int32_t> find(std::string_view text) const { return find(text, hash(text)); }

  // Prefetches the slot of a hash into the cache.
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  int64_t size() const { return strings_.size(); }
  std::string_view operator[](int64_t i) const { return strings_[i]; }
  StringTable finish() { return strings_.finish(); }

 private:
  // Open addressing with linear probing; at most half of the slots are used. Strings of up to eight
  // bytes are stored in the slot itself, so that they are compared without reading the table.
  struct Slot {
    uint64_t key = 0;  // the bytes of a short string, or the hash of a long one
    int32_t id = -1;
    uint32_t length = 0;
  };
  static Slot make_slot(std::string_view text, uint64_t hash, int32_t id);
  static constexpr size_t kSmallest = 1024;
  size_t locate(std::string_view text, uint64_t hash) const;
  void grow();
  std::vector<Slot> slots_;
  StringTableBuilder strings_;
};

}  // namespace lase

#include "lase/base/interner.h"

#include <cstring>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/random.h"

namespace lase {

namespace {

constexpr size_t kShort = 8;

uint64_t up_to_eight_bytes(std::string_view text) {
  uint64_t word = 0;
  if (!text.empty()) std::memcpy(&word, text.data(), text.size());
  return word;
}

}  // namespace

uint64_t Interner::hash(std::string_view text) {
  uint64_t state = text.size();
  for (; text.size() > kShort; text.remove_prefix(kShort)) {
    state = mix(state ^ up_to_eight_bytes(text.substr(0, kShort)));
  }
  return mix(state ^ up_to_eight_bytes(text));
}

Interner::Slot Interner::make_slot(std::string_view text, uint64_t hash, int32_t id) {
  return {.key = text.size() <= kShort ? up_to_eight_bytes(text) : hash,
          .id = id,
          .length = static_cast<uint32_t>(text.size())};
}

// The slot that holds `text`, or the free slot for it.
size_t Interner::locate(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const Slot wanted = make_slot(text, hash, -1);
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.key != wanted.key || slot.length != wanted.length) continue;
    if (text.size() <= kShort || strings_[slot.id] == text) return at;
  }
}

int32_t Interner::add(std::string_view text, uint64_t hash) {
  size_t at = locate(text, hash);
  if (slots_[at].id >= 0) return slots_[at].id;
  require(size() < std::numeric_limits<int32_t>::max(),
          "too many distinct names: expected at most 2,147,483,647");
  if (2 * static_cast<size_t>(size() + 1) > slots_.size()) {
    grow();
    at = locate(text, hash);
  }
  slots_[at] = make_slot(text, hash, static_cast<int32_t>(size()));
  strings_.add(text);
  return slots_[at].id;
}

std::optional<int32_t> Interner::find(std::string_view text, uint64_t hash) const {
  const int32_t id = slots_[locate(text, hash)].id;
  return id >= 0 ? std::optional(id) : std::nullopt;
}

void Interner::grow() {
  slots_.assign(slots_.size() * 2, Slot{});
  for (int64_t i = 0; i < size(); ++i) {
    const auto text = strings_[i];
    const uint64_t code = hash(text);
    slots_[locate(text, code)] = make_slot(text, code, static_cast<int32_t>(i));
  }
}

}  // namespace lase

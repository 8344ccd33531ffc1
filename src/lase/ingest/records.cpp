#include "lase/ingest/records.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lase/base/text.h"

namespace lase {
namespace {

// A field that starts with a quote.
struct Quoted {
  enum class State : uint8_t { kClosed, kOpen, kLiteral } state = State::kOpen;
  std::string_view text;      // between the quotes
  bool escaped = false;       // contains escaped quotes
  const char* end = nullptr;  // after the closing quote and spaces
};

// Reads the quoted field at `at`, where a newline outside quotes ends the record.
Quoted read_quoted(const char* at, const char* end, char delimiter) {
  Quoted field;
  const char* first = at + 1;
  const auto find_quote = [end](const char* from) {
    const void* found =
        from < end ? std::memchr(from, '"', static_cast<size_t>(end - from)) : nullptr;
    return static_cast<const char*>(found);
  };
  for (const char* quote = find_quote(first); quote != nullptr; quote = find_quote(quote + 2)) {
    if (quote + 1 < end && quote[1] == '"') {
      field.escaped = true;
      continue;
    }
    const char* next = quote + 1;
    while (next < end && (*next == ' ' || *next == '\r') && *next != delimiter) ++next;
    const bool closed = next == end || *next == delimiter || *next == '\n';
    field.state = closed ? Quoted::State::kClosed : Quoted::State::kLiteral;
    field.text = {first, static_cast<size_t>(quote - first)};
    field.end = next;
    return field;
  }
  return field;
}

std::string unescaped_text(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

}  // namespace

size_t record_end(std::string_view text, char delimiter) {
  const size_t newline = std::min(text.find('\n'), text.size());
  if (std::memchr(text.data(), '"', newline) == nullptr) return newline;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  while (true) {
    while (at < end && *at == ' ') ++at;
    const char* stop = nullptr;
    if (at < end && *at == '"') {
      const Quoted field = read_quoted(at, end, delimiter);
      if (field.state == Quoted::State::kOpen) return std::string_view::npos;
      if (field.state == Quoted::State::kClosed) stop = field.end;
    }
    if (stop == nullptr) {
      stop = std::find_if(at, end, [&](char c) { return c == delimiter || c == '\n'; });
    }
    if (stop == end || *stop == '\n') return static_cast<size_t>(stop - text.data());
    at = stop + 1;
  }
}

size_t complete_records(std::string_view text, char delimiter) {
  if (text.find('"') == std::string_view::npos) return text.size();
  size_t done = 0;
  while (done < text.size()) {
    const size_t end = record_end(text.substr(done), delimiter);
    if (end == std::string_view::npos) return done;
    done = std::min(done + end + 1, text.size());
  }
  return done;
}

void split_record(std::string_view record, char delimiter, std::vector<std::string_view>& fields,
                  std::deque<std::string>& unescaped) {
  fields.clear();
  if (record.ends_with('\r')) record.remove_suffix(1);
  if (delimiter == ' ') record = trimmed(record);
  if (record.empty() || trimmed(record).empty()) return;
  const char* at = record.data();
  const char* const end = at + record.size();
  while (true) {
    while (at < end && *at == ' ') ++at;
    const char* stop = nullptr;
    if (at < end && *at == '"') {
      const Quoted field = read_quoted(at, end, delimiter);
      if (field.state == Quoted::State::kClosed) {
        stop = field.end;
        fields.push_back(field.escaped ? unescaped.emplace_back(unescaped_text(field.text))
                                       : field.text);
      }
    }
    if (stop == nullptr) {
      stop = std::find(at, end, delimiter);
      const char* last = stop;
      while (last > at && (last[-1] == ' ' || last[-1] == '\r')) --last;
      fields.emplace_back(at, last - at);
    }
    if (stop == end) return;
    at = stop + 1;
  }
}

}  // namespace lase

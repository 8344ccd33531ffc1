#include "lase/base/safetensors_header.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "lase/base/error.h"

namespace lase {
namespace {

using nlohmann::json;

// SAX handler for the header, an object of objects of strings or lists. A DOM would not do: with a
// callback, parsing takes time quadratic in the number of arrays; without one, duplicate names are
// silently dropped.
class HeaderReader : public json::json_sax_t {
 public:
  HeaderReader(SafetensorsHeader& header, const std::string& path) : header_(header), path_(path) {}

  bool start_object(std::size_t) override {
    if (depth_ >= 2 || in_list_) malformed();
    ++depth_;
    if (depth_ == 2) {
      in_metadata_ = name_ == kMetadataKey;
      entry_ = {};
      keys_.clear();
      list_ = nullptr;
      offsets_.clear();
      type_name_.clear();
    }
    return true;
  }

  bool key(std::string& key) override {
    if (depth_ == 1) {
      require(names_.insert(key).second, path_, ": the header contains ", quote(key), " twice");
      require(names_.size() <= kMostArrays, path_, ": the header contains more than ", kMostArrays,
              " arrays");
      name_ = key;
    } else {
      require(keys_.insert(key).second, path_, ": the header contains ", quote(key), " twice");
      key_ = key;
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ == 1 && !in_metadata_) finish_entry();
    in_metadata_ = false;
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata.emplace(key_, std::move(text));
    } else if (depth_ == 2 && !in_list_ && key_ == "dtype") {
      type_name_ = std::move(text);
    } else {
      malformed();
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_list_) malformed();
    if (key_ == "shape") list_ = &entry_.shape;
    if (key_ == "data_offsets") list_ = &offsets_;
    if (list_ == nullptr) malformed();
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    list_ = nullptr;
    return true;
  }

  bool number_unsigned(json::number_unsigned_t value) override {
    if (!in_list_) malformed();
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    require(value <= kMost, path_, ": the header entry of ", quote(name_),
            " has a size or offset that is not a non-negative integer");
    list_->push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(json::number_integer_t) override { return other(); }
  bool number_float(json::number_float_t, const std::string&) override { return other(); }
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool binary(json::binary_t&) override { return other(); }

  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    fail(path_, ": the header is not valid JSON; this is not a safetensors file, or it is corrupt");
  }

 private:
  // A value that never occurs in a valid header.
  bool other() const {
    require(!in_list_, path_, ": the header entry of ", quote(name_),
            " has a size or offset that is not a non-negative integer");
    malformed();
  }

  [[noreturn]] void malformed() const {
    if (depth_ == 0) fail(path_, ": the header is not a JSON object");
    if (in_metadata_) fail(path_, ": the metadata entry ", quote(key_), " is not a string");
    if (depth_ == 1 && name_ == kMetadataKey) fail(path_, ": the metadata is not a JSON object");
    fail(path_, ": the header entry of ", quote(name_), " is malformed");
  }

  void finish_entry() {
    if (!keys_.contains("dtype") || !keys_.contains("shape") || !keys_.contains("data_offsets")) {
      malformed();
    }
    const auto type = dtype_from_name(type_name_);
    require(type.has_value(), path_, ": ", quote(name_), " has unknown element type ",
            quote(type_name_));
    require(offsets_.size() == 2 && offsets_[0] <= offsets_[1], path_, ": ", quote(name_),
            " has malformed data offsets");
    entry_.type = *type;
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    const int64_t bytes = entry_.end - entry_.begin;
    require(byte_count(entry_.shape, *type) == bytes, path_, ": the shape ",
            shape_text(entry_.shape), " of ", quote(name_), " does not match its ", bytes,
            " bytes");
    header_.entries.emplace(name_, std::move(entry_));
  }

  SafetensorsHeader& header_;
  const std::string& path_;
  int depth_ = 0;  // nesting of objects
  bool in_metadata_ = false;
  bool in_list_ = false;
  std::string name_;  // current array
  std::string key_;   // current key within its entry
  std::set<std::string> names_;
  std::set<std::string> keys_;
  std::string type_name_;
  SafetensorsHeader::Entry entry_;
  std::vector<int64_t> offsets_;
  std::vector<int64_t>* list_ = nullptr;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& path) {
  SafetensorsHeader header;
  HeaderReader reader(header, path);
  json::sax_parse(text, &reader);
  return header;
}

int64_t byte_count(const std::vector<int64_t>& shape, DType type) {
  int64_t bytes = dtype_size(type);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  return bytes;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace lase

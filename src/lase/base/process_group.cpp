#include "lase/base/process_group.h"

#include <utility>

#include "lase/base/error.h"

namespace lase {

namespace {

thread_local ProcessGroup* current = nullptr;

// Sends the same bytes to every process.
void exchange_with_all(ProcessGroup& group, ProcessGroup::Bytes own,
                       const std::vector<ProcessGroup::Buffer>& receive) {
  group.exchange(std::vector<ProcessGroup::Bytes>(receive.size(), own), receive);
}

class Alone : public ProcessGroup {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  std::unique_ptr<ProcessGroup> connect_again() override { return std::make_unique<Alone>(); }

 private:
  void transfer(std::span<const Bytes>, std::span<const Buffer>) override {}
};

}  // namespace

std::vector<int64_t> gather(ProcessGroup& group, int64_t value) {
  std::vector<int64_t> all(static_cast<size_t>(group.size()), value);
  std::vector<ProcessGroup::Buffer> receive;
  receive.reserve(all.size());
  for (int64_t& each : all) receive.push_back(std::as_writable_bytes(std::span(&each, 1)));
  exchange_with_all(group, std::as_bytes(std::span(&value, 1)), receive);
  return all;
}

std::vector<Message> exchange_messages(ProcessGroup& group, std::vector<Message> messages) {
  const auto own = static_cast<size_t>(group.rank());
  std::vector<int64_t> sizes;
  sizes.reserve(messages.size());
  for (const Message& message : messages) sizes.push_back(std::ssize(message));
  std::vector<int64_t> sizes_of_others(sizes.size());
  std::vector<ProcessGroup::Bytes> send;
  std::vector<ProcessGroup::Buffer> receive;
  for (size_t i = 0; i < sizes.size(); ++i) {
    send.push_back(std::as_bytes(std::span(&sizes[i], 1)));
    receive.push_back(std::as_writable_bytes(std::span(&sizes_of_others[i], 1)));
  }
  group.exchange(send, receive);
  std::vector<Message> received(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i != own) received[i].resize(static_cast<size_t>(sizes_of_others[i]));
    send[i] = messages[i];
    receive[i] = received[i];
  }
  group.exchange(send, receive);
  received[own] = std::move(messages[own]);
  return received;
}

std::vector<Message> ask(ProcessGroup& group, std::vector<Message> questions,
                         const std::function<Message(const Message& question)>& answer) {
  std::vector<Message> answers;
  for (const Message& question : exchange_messages(group, std::move(questions))) {
    answers.push_back(answer(question));
  }
  return exchange_messages(group, std::move(answers));
}

void ProcessGroup::exchange(std::span<const Bytes> send, std::span<const Buffer> receive) {
  for (int64_t i = 0; i < size(); ++i) {
    if (i != rank()) bytes_sent_ += std::ssize(send[static_cast<size_t>(i)]);
  }
  ++exchanges_;
  transfer(send, receive);
}

ProcessGroup* current_processes() { return current; }

ProcessGroup& processes_or_alone() {
  thread_local Alone alone;
  return current == nullptr ? alone : *current;
}

int64_t process_count() { return current == nullptr ? 1 : current->size(); }

bool is_first_process() { return current == nullptr || current->rank() == 0; }

ProcessScope::ProcessScope(ProcessGroup* group) : previous_(std::exchange(current, group)) {}

ProcessScope::~ProcessScope() { current = previous_; }

std::vector<std::string> gather(ProcessGroup& group, const std::string& text) {
  std::vector<std::string> texts;
  for (const int64_t size : gather(group, std::ssize(text))) {
    texts.emplace_back(static_cast<size_t>(size), '\0');
  }
  texts[static_cast<size_t>(group.rank())] = text;
  std::vector<ProcessGroup::Buffer> receive;
  receive.reserve(texts.size());
  for (std::string& each : texts) receive.push_back(std::as_writable_bytes(std::span(each)));
  exchange_with_all(group, std::as_bytes(std::span(text)), receive);
  return texts;
}

int64_t sum_over_processes(int64_t value) {
  if (current == nullptr) return value;
  int64_t sum = 0;
  for (const int64_t each : gather(*current, value)) sum += each;
  return sum;
}

namespace {

std::string text_of(const nlohmann::json& about, const std::string& member) {
  return about.contains(member) ? about.at(member).dump() : "missing";
}

}  // namespace

void require_agreement(ProcessGroup& group, const nlohmann::json& about, const std::string& what) {
  const std::vector<std::string> all = gather(group, about.dump());
  const auto first = nlohmann::json::parse(all[0]);
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[0]) continue;
    const auto other = nlohmann::json::parse(all[i]);
    auto members = first;
    members.update(other);
    for (const auto& member : members.items()) {
      const std::string expected = text_of(first, member.key());
      const std::string found = text_of(other, member.key());
      require(found == expected, "the processes cannot ", what, ": the ", member.key(), " is ",
              expected, " in process 0 and ", found, " in process ", i);
    }
  }
}

}  // namespace lase

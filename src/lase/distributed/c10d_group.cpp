#include "lase/distributed/c10d_group.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lase/base/error.h"

namespace lase {

using at::Tensor;

namespace {

using Clock = std::chrono::steady_clock;
using Store = c10::intrusive_ptr<c10d::Store>;

// A process that fails after another one has this long to say so.
constexpr std::chrono::milliseconds kReaction{1000};
constexpr std::chrono::milliseconds kPoll{10};

std::string noticed_by(int64_t rank) { return "noticed/" + std::to_string(rank); }
std::string read_by(int64_t rank) { return "read/" + std::to_string(rank); }
std::string stopped_by(int64_t rank) { return "stopped/" + std::to_string(rank); }
std::string finished_by(int64_t rank) { return "finished/" + std::to_string(rank); }

void write(c10d::Store& store, const std::string& key, const std::string& text) {
  store.set(key, std::vector<uint8_t>(text.begin(), text.end()));
}

std::string read(c10d::Store& store, const std::string& key) {
  const std::vector<uint8_t> bytes = store.get(key);
  return {bytes.begin(), bytes.end()};
}

// What the store says about the other processes.
struct Others {
  std::vector<int64_t> silent;  // have neither failed nor stopped, as far as is known
  std::optional<std::pair<int64_t, std::string>> stopped;  // the first one, and its reason
};

Others look_up(c10d::Store& store, int64_t rank, int64_t size) {
  Others others;
  for (int64_t i = 0; i < size; ++i) {
    if (i == rank) continue;
    if (!others.stopped && store.check({stopped_by(i)})) {
      others.stopped = {i, read(store, stopped_by(i))};
    } else if (!store.check({noticed_by(i)})) {
      others.silent.push_back(i);
    }
  }
  return others;
}

// Waits until it is clear why an exchange failed, or until the timeout. nullopt: the store cannot
// be reached. The store is read by another thread, because its process may have stopped responding.
std::optional<Others> find_cause(const Store& store, int64_t rank, int64_t size,
                                 std::chrono::seconds timeout) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Others> found;
    bool done = false;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread([=] {
    const auto start = Clock::now();
    std::optional<Others> found;
    try {
      write(*store, noticed_by(rank), "");
      for (;;) {
        found = look_up(*store, rank, size);
        const auto passed = Clock::now() - start;
        if (found->stopped) write(*store, read_by(rank), "");
        const bool clear = found->stopped || (found->silent.size() <= 1 && passed >= kReaction);
        if (clear || passed >= timeout) break;
        std::this_thread::sleep_for(kPoll);
      }
    } catch (const std::exception&) {
      found.reset();
    }
    const std::lock_guard lock(shared->mutex);
    shared->found = std::move(found);
    shared->done = true;
    shared->changed.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  shared->changed.wait_for(lock, timeout + 2 * kReaction, [&] { return shared->done; });
  return shared->found;
}

// "process 2", "processes 1 and 2", "processes 1, 2 and 5"
std::string listed(const std::vector<int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "process " : "processes ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    text += i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

}  // namespace

C10dGroup::C10dGroup(c10::intrusive_ptr<c10d::ProcessGroup> group, Options options)
    : group_(std::move(group)),
      options_(std::move(options)),
      rank_(group_->getRank()),
      size_(group_->getSize()) {}

C10dGroup::~C10dGroup() {
  // The destructor of an abandoned group would wait for the other processes.
  if (abandoned_) static_cast<void>(group_.release());
}

std::unique_ptr<ProcessGroup> C10dGroup::connect_again() {
  if (!options_.connect) return nullptr;
  Options options = options_;
  options.connect = {};
  try {
    auto again = std::make_unique<C10dGroup>(options_.connect(), std::move(options));
    again->polls_ = true;
    return again;
  } catch (const std::exception& error) {
    fail_after(error.what());
  }
}

void C10dGroup::transfer(std::span<const Bytes> send, std::span<const Buffer> receive) {
  if (size_ == 1) return;
  require(group_ != nullptr, "the connection to the other processes is closed");
  const auto own = static_cast<size_t>(rank_);
  std::vector<int64_t> sent;
  std::vector<int64_t> received;
  for (size_t i = 0; i < send.size(); ++i) {
    sent.push_back(i == own ? 0 : std::ssize(send[i]));
    received.push_back(i == own ? 0 : std::ssize(receive[i]));
  }
  const auto sum = [](const std::vector<int64_t>& sizes) {
    int64_t all = 0;
    for (const int64_t size : sizes) all += size;
    return all;
  };
  Tensor outgoing = at::empty({sum(sent)}, at::kByte);
  auto* to = reinterpret_cast<std::byte*>(outgoing.data_ptr<uint8_t>());
  for (size_t i = 0; i < send.size(); ++i) {
    if (i != own) to = std::copy(send[i].begin(), send[i].end(), to);
  }
  outgoing = outgoing.to(options_.device);
  Tensor incoming = at::empty({sum(received)}, outgoing.options());
  try {
    const auto work = group_->alltoall_base(incoming, outgoing, received, sent);
    while (polls_ && !work->isCompleted()) {
      if (abandoned_) throw ProcessError("this process has stopped", false);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    work->wait();
  } catch (const ProcessError&) {
    throw;
  } catch (const std::exception& error) {
    fail_after(error.what());
  }
  incoming = incoming.cpu();
  const auto* from = reinterpret_cast<const std::byte*>(incoming.data_ptr<uint8_t>());
  for (size_t i = 0; i < receive.size(); ++i) {
    if (i == own) continue;
    std::copy_n(from, receive[i].size(), receive[i].begin());
    from += receive[i].size();
  }
}

void C10dGroup::stop(const std::string& reason) {
  if (size_ == 1) return;
  group_.reset();  // closes the connections, so that the others notice
  if (!options_.store) return;
  c10d::Store& store = *options_.store;
  try {
    write(store, stopped_by(rank_), reason);
    // The store may end with process 0: it waits until the others have read the reason.
    const auto deadline = Clock::now() + 2 * kReaction;
    for (int64_t i = 1; rank_ == 0 && i < size_; ++i) {
      while (!store.check({read_by(i)}) && !store.check({stopped_by(i)}) &&
             Clock::now() < deadline) {
        std::this_thread::sleep_for(kPoll);
      }
    }
  } catch (const std::exception&) {
    // The others will find out that this process has stopped.
  }
}

void C10dGroup::finish() {
  if (size_ == 1 || !options_.store) return;
  c10d::Store& store = *options_.store;
  std::optional<std::pair<int64_t, std::string>> stopped;
  try {
    write(store, finished_by(rank_), "");
    const auto deadline = Clock::now() + options_.timeout;
    for (int64_t i = 0; i < size_ && !stopped; ++i) {
      while (!store.check({finished_by(i)}) && !stopped && Clock::now() < deadline) {
        if (store.check({stopped_by(i)})) stopped = {i, read(store, stopped_by(i))};
        std::this_thread::sleep_for(kPoll);
      }
    }
  } catch (const std::exception&) {
    return;  // The process that keeps the store has finished, which it does after all others.
  }
  if (stopped) fail_because_of(stopped->first, stopped->second);
}

void C10dGroup::fail_because_of(int64_t rank, const std::string& reason) const {
  // Process 0 reports its own errors.
  throw ProcessError(join("process ", rank, ": ", reason), rank != 0 && rank_ == 0);
}

void C10dGroup::fail_after(const std::string& message) {
  group_.reset();
  const std::string details = message.substr(0, message.find('\n'));
  if (!options_.store) {
    throw ProcessError("another process stopped or does not respond (" + details + ")", true);
  }
  const auto others = find_cause(options_.store, rank_, size_, options_.timeout);
  if (!others) {
    throw ProcessError("process 0, which the others had connected to, stopped or does not respond",
                       rank_ == 1);
  }
  if (others->stopped) fail_because_of(others->stopped->first, others->stopped->second);
  if (others->silent.empty()) {
    throw ProcessError("the connection between the processes was lost (" + details + ")",
                       rank_ == 0);
  }
  int64_t first = 0;  // of the processes that are left
  for (const int64_t rank : others->silent) first += rank == first ? 1 : 0;
  const bool one = others->silent.size() == 1;
  throw ProcessError(join(listed(others->silent), one ? " was killed or does not respond"
                                                      : " were killed or do not respond"),
                     rank_ == first);
}

}  // namespace lase

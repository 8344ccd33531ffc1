#include "lase/base/thread_processes.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "lase/base/error.h"

namespace lase {
namespace {

// Messages between the threads, over one connection.
class Mail {
 public:
  void send(int64_t from, int64_t to, ProcessGroup::Bytes bytes) {
    const std::lock_guard lock(mutex_);
    messages_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }

  void receive(int64_t from, int64_t to, ProcessGroup::Buffer into,
               const std::atomic<bool>& abandoned) {
    std::unique_lock lock(mutex_);
    auto& waiting = messages_[{from, to}];
    changed_.wait(lock, [&] { return !waiting.empty() || error_ || abandoned; });
    require(!waiting.empty(), "process ", from, " stopped");
    require(waiting.front().size() == into.size(), "process ", from, " sent ",
            waiting.front().size(), " bytes; expected ", into.size());
    std::copy(waiting.front().begin(), waiting.front().end(), into.begin());
    waiting.pop_front();
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int64_t, int64_t>, std::deque<std::vector<std::byte>>> messages_;
  std::exception_ptr error_;
};

// All connections.
class Mails {
 public:
  Mail& at(int64_t connection) {
    const std::lock_guard lock(mutex_);
    Mail& mail = mails_[connection];
    if (error_) mail.fail(error_);
    return mail;
  }
  void fail(const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    for (auto& [connection, mail] : mails_) mail.fail(error);
  }
  const std::exception_ptr& error() const { return error_; }

 private:
  std::mutex mutex_;
  std::map<int64_t, Mail> mails_;
  std::exception_ptr error_;
};

class ThreadGroup : public ProcessGroup {
 public:
  ThreadGroup(Mails& mails, int64_t connection, int64_t rank, int64_t size)
      : mails_(mails), mail_(mails.at(connection)), rank_(rank), size_(size) {}

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  std::unique_ptr<ProcessGroup> connect_again() override {
    return std::make_unique<ThreadGroup>(mails_, ++connections_, rank_, size_);
  }
  void abandon() override {
    abandoned_ = true;
    mail_.wake();
  }

 private:
  void transfer(std::span<const Bytes> send, std::span<const Buffer> receive) override {
    for (int64_t i = 0; i < size_; ++i) {
      if (i != rank_) mail_.send(rank_, i, send[static_cast<size_t>(i)]);
    }
    for (int64_t i = 0; i < size_; ++i) {
      if (i != rank_) mail_.receive(i, rank_, receive[static_cast<size_t>(i)], abandoned_);
    }
  }

  Mails& mails_;
  Mail& mail_;
  int64_t connections_ = 0;
  int64_t rank_;
  int64_t size_;
  std::atomic<bool> abandoned_ = false;
};

}  // namespace

void run_processes(int64_t processes, const std::function<void(int64_t rank)>& body) {
  Mails mails;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < processes; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadGroup group(mails, 0, rank, processes);
      const ProcessScope scope(&group);
      try {
        body(rank);
      } catch (...) {
        mails.fail(std::current_exception());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (mails.error()) std::rethrow_exception(mails.error());
}

}  // namespace lase

#pragma once

#include <atomic>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "lase/base/launch_environment.h"
#include "lase/base/process_group.h"

namespace lase {

// Processes that torch has connected, with any backend that has all-to-all exchanges (Gloo, NCCL,
// MPI).
//
// If an exchange fails, the processes that notice it say so in the store, and those that stop
// because of an error of their own leave the reason there. The processes that do neither have been
// killed, or do not respond.
class C10dGroup : public ProcessGroup {
 public:
  struct Options {
    // Shared by these processes alone; null: errors do not name the process that stopped.
    c10::intrusive_ptr<c10d::Store> store = {};
    // How long a process may take to notice that another one has stopped.
    std::chrono::seconds timeout = LaunchEnvironment::kDefaultTimeout;
    c10::Device device = c10::Device(c10::kCPU);  // of the tensors that the backend exchanges
    // Connects the same processes again; null: not supported.
    std::function<c10::intrusive_ptr<c10d::ProcessGroup>()> connect = {};
  };
  C10dGroup(c10::intrusive_ptr<c10d::ProcessGroup> group, Options options);
  ~C10dGroup() override;

  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  void stop(const std::string& reason) override;
  void finish() override;
  std::unique_ptr<ProcessGroup> connect_again() override;
  void abandon() override { abandoned_ = true; }

 private:
  void transfer(std::span<const Bytes> send, std::span<const Buffer> receive) override;
  // Throws ProcessError, after finding out which processes have stopped.
  [[noreturn]] void fail_after(const std::string& message);
  [[noreturn]] void fail_because_of(int64_t rank, const std::string& reason) const;

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  Options options_;
  int64_t rank_;
  int64_t size_;
  bool polls_ = false;  // whether an exchange may be abandoned
  std::atomic<bool> abandoned_ = false;
};

}  // namespace lase

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/message.h"
#include "lase/base/part.h"

namespace lase {

// Another process of a group has stopped; the message names it.
class ProcessError : public Error {
 public:
  ProcessError(const std::string& message, bool reports) : Error(message), reports_(reports) {}
  // Whether this process is the one to tell the user. All that are left throw the same error.
  bool reports() const { return reports_; }

 private:
  bool reports_;
};

// Location of a row of a matrix whose rows are divided among processes.
struct RowPlace {
  int64_t process = 0;
  int64_t row = 0;  // among those of the process
};

// Processes that compute one result together. All of them call the same operations in the same
// order. Not for concurrent use.
class ProcessGroup {
 public:
  using Bytes = std::span<const std::byte>;
  using Buffer = std::span<std::byte>;

  ProcessGroup() = default;
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  virtual ~ProcessGroup() = default;

  virtual int64_t rank() const = 0;  // of this process
  virtual int64_t size() const = 0;

  // Sends send[i] to process i, and fills receive[i] with what process i sends to this one. Both
  // have one entry per process, in the sizes that the other side expects; those of this process are
  // ignored. Throws ProcessError if another process has stopped.
  void exchange(std::span<const Bytes> send, std::span<const Buffer> receive);
  // Tells the other processes why this one stops; their errors then name it and the reason.
  virtual void stop(const std::string& /*reason*/) {}
  // Waits after the last exchange until the other processes have called this too, since a process
  // that ends may close a connection before the other side has read everything.
  virtual void finish() {}
  // Another connection between the same processes, for another thread; null if there can be none.
  // All processes call this.
  virtual std::unique_ptr<ProcessGroup> connect_again() { return nullptr; }
  // Makes an exchange of another thread fail, because this process will not take part in others.
  virtual void abandon() {}
  // Bytes sent to other processes so far.
  int64_t bytes_sent() const { return bytes_sent_; }
  int64_t exchanges() const { return exchanges_; }  // so far

  // Part `rank` of n elements.
  Part own_part(int64_t n) const { return part_of(n, size(), rank()); }

 private:
  virtual void transfer(std::span<const Bytes> send, std::span<const Buffer> receive) = 0;

  int64_t bytes_sent_ = 0;
  int64_t exchanges_ = 0;
};

// The processes that share the work of this thread: inference divides nodes among them, and
// training the chunks of batches. Every process gets all results, and process 0 writes the files.
// Null, the default: this process does everything. Threads that the library starts have none.
ProcessGroup* current_processes();
// The same, or a group of this process alone.
ProcessGroup& processes_or_alone();
int64_t process_count();
// Whether this is process 0, or the only one.
bool is_first_process();

// Sets the processes of this thread, and restores the previous ones when it is destroyed:
//
//   const lase::ProcessScope scope(&group);
//   lase::train(graph, options);
class ProcessScope {
 public:
  explicit ProcessScope(ProcessGroup* group);
  ProcessScope(const ProcessScope&) = delete;
  ProcessScope& operator=(const ProcessScope&) = delete;
  ~ProcessScope();

 private:
  ProcessGroup* previous_;
};

// Sends message i to process i, and returns what the processes send to this one, by rank. All of
// them call this.
std::vector<Message> exchange_messages(ProcessGroup& group, std::vector<Message> messages);
// Sends question i to process i, and returns the answers to the questions of this process, by rank.
// All processes call this; `answer` is called once for each of them.
std::vector<Message> ask(ProcessGroup& group, std::vector<Message> questions,
                         const std::function<Message(const Message& question)>& answer);

// The texts of all processes, by rank.
std::vector<std::string> gather(ProcessGroup& group, const std::string& text);

// The values of all processes, by rank.
std::vector<int64_t> gather(ProcessGroup& group, int64_t value);
// Σ value over the current processes.
int64_t sum_over_processes(int64_t value);

// Throws Error if a member of this JSON object differs between processes; the message names the
// member, the processes and the values. `what` is, for example, "train together".
void require_agreement(ProcessGroup& group, const nlohmann::json& about, const std::string& what);

}  // namespace lase

#include "lase/train/chunk_sum.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/base/process_group.h"
#include "lase/ops/divided_rows.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

namespace {

int64_t middle(const Part& part) { return (part.first + part.last) / 2; }

// The sums of nodes of the tree. The vectors of two halves are added as soon as both are known.
class TreeSum {
 public:
  explicit TreeSum(int64_t chunks) : root_{0, chunks} {}

  void set(const Part& node, Tensor sum) {
    known_[node.first] = {node.last, std::move(sum)};
    of(root_);
  }
  // Undefined if a chunk is missing.
  Tensor of(const Part& node) {
    const auto at = known_.find(node.first);
    if (at != known_.end() && at->second.last == node.last) return at->second.sum;
    if (node.size() <= 1) return {};
    const Tensor left = of({node.first, middle(node)});
    const Tensor right = of({middle(node), node.last});
    if (!left.defined() || !right.defined()) return {};
    known_.erase(middle(node));
    return (known_[node.first] = {node.last, left + right}).sum;
  }
  Tensor total() { return of(root_); }

 private:
  struct Known {
    int64_t last = 0;
    Tensor sum;
  };
  Part root_;
  std::map<int64_t, Known> known_;  // by the first chunk
};

// The largest nodes of the tree within `wanted`, in order.
void add_nodes(const Part& part, const Part& wanted, std::vector<Part>& nodes) {
  if (part.last <= wanted.first || wanted.last <= part.first) return;
  if (wanted.first <= part.first && part.last <= wanted.last) {
    nodes.push_back(part);
    return;
  }
  add_nodes({part.first, middle(part)}, wanted, nodes);
  add_nodes({middle(part), part.last}, wanted, nodes);
}

std::vector<Part> nodes_within(int64_t chunks, const Part& wanted) {
  std::vector<Part> nodes;
  if (wanted.size() > 0) add_nodes({0, chunks}, wanted, nodes);
  return nodes;
}

// The sums of the own chunks.
TreeSum own_sums(int64_t chunks, const std::function<ChunkTask(int64_t)>& take, bool concurrent) {
  const Part own = own_chunks(chunks);
  TreeSum sums(chunks);
  std::mutex taking;
  std::mutex adding;
  int64_t next = own.first;
  std::atomic<bool> failed = false;  // take no more chunks
  const auto run_next = [&] {
    std::unique_lock lock(taking);
    if (failed) return;
    try {
      const Part leaf{next, next + 1};
      const ChunkTask task = take(next++);
      lock.unlock();
      Tensor vector = task();
      const std::lock_guard adding_lock(adding);
      sums.set(leaf, std::move(vector));
    } catch (...) {
      failed = true;
      throw;
    }
  };
  if (!concurrent) {
    while (next < own.last) run_next();
    return sums;
  }
  const Workspace::Pool workspace = Workspace::share();
  ProcessGroup* processes = current_processes();
  // Each chunk may use all threads: those without a chunk of their own help with the others.
  const Context context = Context::current();
  parallel_for(own.size(), 1, [&](int64_t, int64_t) {
    const ContextScope scope_of_context(context);
    const Workspace scope(workspace);
    const ProcessScope scope_of_processes(processes);
    ops::inherit_thread_count();
    run_next();
  });
  return sums;
}

}  // namespace

Part own_chunks(int64_t chunks) {
  ProcessGroup* group = current_processes();
  return group == nullptr ? Part{0, chunks} : group->own_part(chunks);
}

Tensor sum_over_chunks(int64_t chunks, int64_t size, const std::function<ChunkTask(int64_t)>& take,
                       bool concurrent) {
  TreeSum own = own_sums(chunks, take, concurrent);
  ProcessGroup* group = current_processes();
  if (group == nullptr) return own.total();

  // Process i adds slice i of the vectors: it receives this slice of the largest nodes of the tree
  // that each process can compute.
  const int64_t processes = group->size();
  const auto slice = [&](int64_t i) { return part_of(size, processes, i); };
  const Part own_slice = slice(group->rank());
  std::vector<Tensor> computed;
  for (const Part& node : nodes_within(chunks, own_chunks(chunks))) {
    computed.push_back(own.of(node));
  }
  const Tensor rows =
      computed.empty() ? at::empty({0, size}, at::kFloat) : at::stack(computed);  // [nodes, size]

  std::vector<Tensor> sent;
  std::vector<Tensor> received;
  std::vector<std::pair<Part, Tensor>> slices;  // of the nodes of all processes
  for (int64_t i = 0; i < processes; ++i) {
    sent.push_back(rows.slice(1, slice(i).first, slice(i).last).contiguous());
    const auto nodes = nodes_within(chunks, part_of(chunks, processes, i));
    received.push_back(i == group->rank()
                           ? sent.back()
                           : at::empty({std::ssize(nodes), own_slice.size()}, at::kFloat));
    for (size_t j = 0; j < nodes.size(); ++j) {
      slices.emplace_back(nodes[j], received.back()[static_cast<int64_t>(j)]);
    }
  }
  ops::exchange_tensors(sent, received);

  TreeSum sums(chunks);
  for (const auto& [node, sum] : slices) sums.set(node, sum);
  Tensor total = at::empty({size}, at::kFloat);
  total.slice(0, own_slice.first, own_slice.last).copy_(sums.total());
  std::vector<int64_t> bounds = {0};
  for (int64_t i = 0; i < processes; ++i) bounds.push_back(slice(i).last);
  ops::DividedRows(size, std::move(bounds)).complete(total);
  return total;
}

}  // namespace lase

#include "lase/train/chunk_sum.h"

#include <ATen/ATen.h>
#include <map>
#include <utility>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/ops/divided_rows.h"

namespace lase {

using at::Tensor;

namespace {

int64_t middle(const Part& part) { return (part.first + part.last) / 2; }

// Σ over a node of the tree; leaf(part) returns a known sum, or an undefined tensor to descend.
Tensor sum(const Part& part, const std::function<Tensor(const Part&)>& leaf) {
  const Tensor known = leaf(part);
  if (known.defined()) return known;
  const Tensor left = sum({part.first, middle(part)}, leaf);
  return left + sum({middle(part), part.last}, leaf);
}

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

}  // namespace

Part own_chunks(int64_t chunks) {
  ProcessGroup* group = current_processes();
  return group == nullptr ? Part{0, chunks} : group->own_part(chunks);
}

Tensor sum_over_chunks(int64_t chunks, int64_t size, const std::function<Tensor(int64_t)>& vector) {
  const auto compute = [&](const Part& part) {
    return part.size() == 1 ? vector(part.first) : Tensor();
  };
  ProcessGroup* group = current_processes();
  if (group == nullptr) return sum({0, chunks}, compute);

  // Process i adds slice i of the vectors: it receives this slice of the largest nodes of the tree
  // that each process can compute.
  const int64_t processes = group->size();
  const auto slice = [&](int64_t i) { return part_of(size, processes, i); };
  const Part own_slice = slice(group->rank());
  std::vector<Tensor> computed;
  for (const Part& node : nodes_within(chunks, own_chunks(chunks)))
    computed.push_back(sum(node, compute));
  const Tensor rows =
      computed.empty() ? at::empty({0, size}, at::kFloat) : at::stack(computed);  // [nodes, size]

  std::vector<Tensor> sent;
  std::vector<Tensor> received;
  std::map<int64_t, std::pair<int64_t, Tensor>> known;  // by the first chunk: the last, and Σ
  for (int64_t i = 0; i < processes; ++i) {
    sent.push_back(rows.slice(1, slice(i).first, slice(i).last).contiguous());
    const auto nodes = nodes_within(chunks, part_of(chunks, processes, i));
    received.push_back(i == group->rank()
                           ? sent.back()
                           : at::empty({std::ssize(nodes), own_slice.size()}, at::kFloat));
    for (size_t j = 0; j < nodes.size(); ++j) {
      known[nodes[j].first] = {nodes[j].last, received.back()[static_cast<int64_t>(j)]};
    }
  }
  ops::exchange_tensors(sent, received);

  const Tensor total = at::empty({size}, at::kFloat);
  total.slice(0, own_slice.first, own_slice.last).copy_(sum({0, chunks}, [&](const Part& part) {
    const auto at = known.find(part.first);
    return at != known.end() && at->second.first == part.last ? at->second.second : Tensor();
  }));
  std::vector<int64_t> bounds = {0};
  for (int64_t i = 0; i < processes; ++i) bounds.push_back(slice(i).last);
  ops::DividedRows(size, std::move(bounds)).complete(total);
  return total;
}

}  // namespace lase

#include "lase/ops/divided_rows.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <utility>

#include "lase/base/process_group.h"

namespace lase::ops {

using at::Tensor;

namespace {

std::vector<int64_t> even_bounds(int64_t n) {
  const int64_t processes = process_count();
  if (processes == 1 || n < processes) return {};
  std::vector<int64_t> bounds = {0};
  for (int64_t i = 0; i < processes; ++i) bounds.push_back(part_of(n, processes, i).last);
  return bounds;
}

ProcessGroup::Buffer bytes(const Tensor& x) {
  return {static_cast<std::byte*>(x.data_ptr()), x.nbytes()};
}

}  // namespace

void exchange_tensors(const std::vector<Tensor>& sent, const std::vector<Tensor>& received) {
  std::vector<ProcessGroup::Bytes> send;
  std::vector<ProcessGroup::Buffer> receive;
  for (const Tensor& x : sent) send.emplace_back(bytes(x));
  for (const Tensor& x : received) receive.push_back(bytes(x));
  current_processes()->exchange(send, receive);
}

DividedRows::DividedRows(int64_t n, std::vector<int64_t> bounds)
    : bounds_(std::move(bounds)), own_{0, n} {
  if (bounds_.empty()) return;
  const auto rank = static_cast<size_t>(current_processes()->rank());
  own_ = {bounds_[rank], bounds_[rank + 1]};
}

DividedRows::DividedRows(int64_t n) : DividedRows(n, even_bounds(n)) {}

RowPlace DividedRows::place(int64_t row) const {
  const auto next = std::upper_bound(bounds_.begin(), bounds_.end(), row);
  return {next - bounds_.begin() - 1, row - *(next - 1)};
}

void DividedRows::complete(const Tensor& matrix) const {
  if (bounds_.empty() || !matrix.defined() || matrix.numel() == 0) return;
  ProcessGroup& group = *current_processes();
  const Tensor rows = matrix.cpu().contiguous();
  const size_t row = rows.nbytes() / static_cast<size_t>(rows.size(0));
  auto* data = static_cast<std::byte*>(rows.data_ptr());
  std::vector<ProcessGroup::Buffer> of_process;
  for (size_t i = 0; i + 1 < bounds_.size(); ++i) {
    const auto first = static_cast<size_t>(bounds_[i]);
    const auto last = static_cast<size_t>(bounds_[i + 1]);
    of_process.emplace_back(data + first * row, (last - first) * row);
  }
  const std::vector<ProcessGroup::Bytes> own(of_process.size(),
                                             of_process[static_cast<size_t>(group.rank())]);
  group.exchange(own, of_process);
  if (!rows.is_same(matrix)) matrix.copy_(rows);
}

Tensor DividedRows::all(const Tensor& own_rows) const {
  if (bounds_.empty() || !own_rows.defined()) return own_rows;
  std::vector<int64_t> sizes = own_rows.sizes().vec();
  sizes[0] = bounds_.back();
  Tensor all = at::empty(sizes, own_rows.options());
  all.narrow(0, own_.first, own_.size()).copy_(own_rows);
  complete(all);
  return all;
}

RequestedRows::RequestedRows(const DividedRows& divided, std::span<const int64_t> rows)
    : divided_(divided) {
  if (!divided_.divided()) return;
  std::vector<int64_t> of_others;
  std::vector<RowPlace> places;
  for (const int64_t row : rows) {
    if (divided_.own().first <= row && row < divided_.own().last) continue;
    of_others.push_back(row);
    places.push_back(divided_.place(row));
  }
  rows_ = at::tensor(of_others, at::kLong);
  fetched_.emplace(*current_processes(), places);
}

Tensor RequestedRows::from(const Tensor& own_rows) const {
  if (!divided_.divided() || !own_rows.defined()) return own_rows;
  const Tensor own = own_rows.cpu();
  std::vector<int64_t> sizes = own.sizes().vec();
  sizes[0] = divided_.size();
  Tensor all = at::zeros(sizes, own.options());
  all.narrow(0, divided_.own().first, divided_.own().size()).copy_(own);
  all.index_copy_(0, rows_, fetched_->from(own));
  return all.to(own_rows.device());
}

}  // namespace lase::ops

#include "lase/ops/fetched_rows.h"

#include <ATen/ATen.h>
#include <utility>

#include "lase/base/message.h"

namespace lase::ops {

using at::Tensor;

namespace {

ProcessGroup::Buffer bytes_of(const Tensor& x) {
  return {static_cast<std::byte*>(x.data_ptr()), x.nbytes()};
}

Tensor index_of(const std::vector<int64_t>& rows) {
  return at::tensor(at::ArrayRef<int64_t>(rows), at::kLong);
}

}  // namespace

FetchedRows::FetchedRows(ProcessGroup& group, std::span<const RowPlace> wanted) : group_(&group) {
  const auto processes = static_cast<size_t>(group.size());
  std::vector<std::vector<int64_t>> rows(processes);
  for (const RowPlace& place : wanted) {
    auto& of_process = rows[static_cast<size_t>(place.process)];
    order_.push_back(std::ssize(of_process));  // among those of its process
    of_process.push_back(place.row);
  }
  std::vector<Message> questions(processes);
  std::vector<int64_t> before = {0};
  for (size_t i = 0; i < processes; ++i) {
    append(questions[i], rows[i]);
    received_.push_back(std::ssize(rows[i]));
    before.push_back(before.back() + received_.back());
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    order_[i] += before[static_cast<size_t>(wanted[i].process)];
  }
  for (const Message& question : exchange_messages(group, std::move(questions))) {
    given_.push_back(MessageReader(question).next<int64_t>());
  }
}

Tensor FetchedRows::from(const Tensor& own_rows) const {
  if (!own_rows.defined()) return own_rows;
  const Tensor own = own_rows.contiguous();
  const auto rank = static_cast<size_t>(group_->rank());
  std::vector<int64_t> sizes = own.sizes().vec();
  sizes[0] = std::ssize(order_);
  const Tensor all = at::empty(sizes, own.options());
  std::vector<Tensor> sent;
  std::vector<ProcessGroup::Bytes> send;
  std::vector<ProcessGroup::Buffer> receive;
  int64_t first = 0;
  for (size_t i = 0; i < given_.size(); ++i) {
    sent.push_back(own.index_select(0, index_of(given_[i])));
    const Tensor into = all.narrow(0, first, received_[i]);
    if (i == rank) into.copy_(sent[i]);
    send.emplace_back(bytes_of(sent[i]));
    receive.emplace_back(bytes_of(into));
    first += received_[i];
  }
  group_->exchange(send, receive);
  return all.index_select(0, index_of(order_));
}

Attributes FetchedRows::from(const Attributes& own_rows) const {
  std::vector<Message> messages(given_.size());
  for (size_t i = 0; i < given_.size(); ++i) {
    append_rows(messages[i], select_rows(own_rows, given_[i]));
  }
  std::vector<Attributes> parts;
  for (const Message& message : exchange_messages(*group_, std::move(messages))) {
    MessageReader reader(message);
    parts.push_back(read_rows(reader, own_rows));
  }
  return select_rows(concat_rows(parts), order_);
}

}  // namespace lase::ops

#include "lase/ops/linear.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/base/parallel.h"

namespace lase::ops {

using at::Tensor;

namespace {

constexpr int64_t kStretch = 256;

template <class T>
void multiply_in_place(const Dropout& how, Tensor& x, int64_t first) {
  how.apply(x.data_ptr<T>(), first, x.size(0), x.size(1));
}

// x *= mask of the rows from `first` on.
void apply(const Dropout& how, Tensor& x, int64_t first) {
  if (x.scalar_type() == at::kDouble) {
    multiply_in_place<double>(how, x, first);
  } else {
    multiply_in_place<float>(how, x, first);
  }
}

Tensor stretch(const Rows& x, const Dropout& dropout, int64_t first, int64_t last) {
  Tensor rows = x.index.defined() ? x.matrix.index_select(0, x.index.slice(0, first, last))
                                  : x.matrix.slice(0, first, last);
  if (dropout.active()) {
    if (!x.index.defined()) rows = rows.clone(at::MemoryFormat::Contiguous);
    apply(dropout, rows, first);
  }
  return rows;
}

struct LinearBackward : torch::autograd::Node {
  Rows x;
  Tensor w;
  Dropout dropout;
  bool needs_x = false;
  bool needs_w = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    c10::NoGradGuard no_grad;
    const Tensor dy = gradients[0].contiguous();  // [n, m]
    const int64_t n = x.size();
    Tensor dx;
    if (needs_x) dx = at::empty({n, x.width()}, dy.options());
    // Pieces of whole stretches, each with a sum of its own; a few, whatever the number of rows.
    constexpr int64_t kMostPieces = 64;
    const int64_t stretches = (n + kStretch - 1) / kStretch;
    const int64_t piece =
        std::max<int64_t>(1, (stretches + kMostPieces - 1) / kMostPieces) * kStretch;
    std::vector<Tensor> dw(static_cast<size_t>((n + piece - 1) / piece));
    parallel_for(n, piece, [&](int64_t begin, int64_t end) {
      c10::NoGradGuard in_this_thread;
      Tensor& sum = dw[static_cast<size_t>(begin / piece)];
      for (int64_t first = begin; first < end; first += kStretch) {
        const int64_t last = std::min(end, first + kStretch);
        const Tensor g = dy.slice(0, first, last);
        if (needs_w && first == begin) sum = at::zeros_like(w);
        if (needs_w) sum.addmm_(g.t(), stretch(x, dropout, first, last));
        if (!needs_x) continue;
        Tensor to = dx.slice(0, first, last);
        at::mm_out(to, g, w);
        if (dropout.active()) ops::apply(dropout, to, first);
      }
    });
    if (needs_w && dw.empty()) dw.push_back(at::zeros_like(w));
    for (size_t i = 1; i < dw.size() && needs_w; ++i) dw[0].add_(dw[i]);
    if (needs_x && x.index.defined()) dx = at::zeros_like(x.matrix).index_add_(0, x.index, dx);
    return {dx, needs_w ? dw[0] : Tensor()};
  }
  void release_variables() override {
    x = {};
    w = Tensor();
  }
};

}  // namespace

Tensor linear(const Rows& x, const Tensor& w, const Dropout& dropout) {
  const int64_t n = x.size();
  Tensor y = at::empty({n, w.size(0)}, w.options());
  {
    c10::NoGradGuard no_grad;
    const Tensor columns = w.detach().t();  // [d, m]
    const Rows rows{x.matrix.detach(), x.index};
    parallel_for(n, kStretch, [&](int64_t first, int64_t last) {
      c10::NoGradGuard in_this_thread;
      Tensor to = y.slice(0, first, last);
      at::mm_out(to, stretch(rows, dropout, first, last), columns);
    });
  }
  if (torch::autograd::compute_requires_grad(x.matrix, w)) {
    auto node = std::make_shared<LinearBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(x.matrix, w));
    node->needs_x = x.matrix.requires_grad();
    node->needs_w = w.requires_grad();
    node->x = {x.matrix.detach(), x.index};
    node->w = w.detach();
    node->dropout = dropout;
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops

#include "model/reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace lase {
namespace {

using ops::Aggregate;
using ops::Amplifier;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Doubles times(const Matrix& w, const Doubles& x) {
  Doubles result;
  for (const auto& one : w) result.push_back(dot(one, x));
  return result;
}

Doubles multiplied(const Doubles& a, const Doubles& b) {
  Doubles result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] * b[i]);
  return result;
}

Doubles added(const Doubles& a, const Doubles& b) {
  Doubles result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}

Doubles scaled(const Doubles& a, double factor) {
  Doubles result;
  for (const double value : a) result.push_back(value * factor);
  return result;
}

Doubles mapped(Doubles a, double (*function)(double)) {
  for (double& value : a) value = function(value);
  return a;
}

double relu(double x) { return std::max(0.0, x); }

class Reference {
 public:
  Reference(const Model& model, const Graph& graph, const Scaling& scaling)
      : options_(model.options()),
        combine_(combine_of(options_)),
        amplifier_(amplifier_of(options_)),
        graph_(graph) {
    for (const auto& [name, value] : model.parameters().all()) {
      matrix_[name] = value.dim() == 2 ? to_rows(value) : Matrix{to_doubles(value)};
    }
    features_ = standardized(graph.nodes.features, scaling.node_mean, scaling.node_scale);
    attributes_ = standardized(graph.link_attributes, scaling.link_mean, scaling.link_scale);
  }

  ReferenceOutputs run() {
    Matrix h = features_;
    if (options_.model == "wl") {
      for (int64_t d = 1; d <= options_.depth; ++d) relabel("relabeling" + std::to_string(d));
      if (options_.depth > 0) {
        for (auto& r : features_) {
          for (double& x : r) x = 2 * x - 1;
        }
      }
      h = features_;
    }
    if (matrix_.contains("w0")) {
      for (auto& one : h) one = times(matrix_.at("w0"), one);
    }
    for (int64_t l = 1; l <= layers(); ++l) {
      prefix_ = "layer" + std::to_string(l) + ".";
      Matrix next;
      for (int64_t u = 0; u < graph_.node_count(); ++u) next.push_back(layer(h, u, l == layers()));
      h = next;
    }
    const bool plain = options_.model == "gcn";
    if (options_.normalize && !plain && options_.model != "raw") {
      for (auto& one : h) one = scaled(one, 1 / std::max(1e-12, std::sqrt(dot(one, one))));
    }
    ReferenceOutputs out{h, h};
    if (plain) return out;
    for (auto& one : out.logits) {
      one = added(times(matrix_.at("head.w"), one), matrix_.at("head.bias")[0]);
    }
    return out;
  }

 private:
  static Matrix standardized(const Attributes& matrix, const at::Tensor& mean,
                             const at::Tensor& scale) {
    Matrix rows = to_rows(matrix);
    for (auto& one : rows) {
      one = multiplied(added(one, scaled(to_doubles(mean), -1)), to_doubles(scale));
    }
    return rows;
  }

  int64_t layers() const {
    if (options_.model == "raw") return 0;
    const auto given = static_cast<int64_t>(options_.widths.size());
    return options_.model == "gcn" ? given + 1 : given;
  }
  const Matrix& w(const std::string& name) const { return matrix_.at(prefix_ + name); }

  // Sum, mean or max over N(u) of term(v, f(e)), vectors of length `width`.
  template <class Term>
  Doubles aggregate(int64_t u, size_t width, Aggregate how, const Term& term) const {
    Doubles result(width);
    for (int64_t i = graph_.row_ptr[u]; i < graph_.row_ptr[u + 1]; ++i) {
      const Doubles x = term(static_cast<size_t>(graph_.neighbor[i]),
                             attributes_[static_cast<size_t>(graph_.link[i])]);
      for (size_t d = 0; d < width; ++d) {
        const bool first = i == graph_.row_ptr[u];
        result[d] = how != Aggregate::kMax ? result[d] + x[d]
                    : first                ? x[d]
                                           : std::max(result[d], x[d]);
      }
    }
    const auto n = static_cast<double>(graph_.degree(u));
    return how == Aggregate::kMean && n > 0 ? scaled(result, 1 / n) : result;
  }

  // r'(u) = σ(P1 r(u) + P2 Σ σ(Q r(v))) with parameters √d P1, √d P2 and √d Q
  void relabel(const std::string& name) {
    prefix_ = name + ".";
    const double root = std::sqrt(static_cast<double>(features_[0].size()));
    const auto product = [&](const char* matrix, const Doubles& x) {
      return scaled(times(w(matrix), x), 1 / root);
    };
    Matrix next;
    for (int64_t u = 0; u < graph_.node_count(); ++u) {
      const Doubles& own = features_[static_cast<size_t>(u)];
      const Doubles sum = aggregate(
          u, own.size(), options_.aggregate,
          [&](size_t v, const Doubles&) { return mapped(product("q", features_[v]), sigmoid); });
      next.push_back(mapped(added(product("p1", own), product("p2", sum)), sigmoid));
    }
    features_ = next;
  }

  // λ(u,v) = σ(V [h(u), f(e), h(v)] + b)
  double gate(const Doubles& hu, const Doubles& hv, const Doubles& f) const {
    if (!options_.gate) return 1;
    return sigmoid(dot(w("gate.u")[0], hu) + dot(w("gate.e")[0], f) + dot(w("gate.v")[0], hv) +
                   w("gate.bias")[0][0]);
  }

  Doubles amplifier(const Doubles& f, size_t width) const {
    if (amplifier_ == Amplifier::kNone || f.empty()) return Doubles(width, 1);
    return activated(times(w("amplifier"), f));
  }

  Doubles activated(const Doubles& a) const {
    return amplifier_ == Amplifier::kSigmoid ? mapped(a, sigmoid) : a;
  }

  // h'(u) = ReLU(W1 h(u) ∘ (W2 s(u) + W3 r(u) + b)), with h(v) ⊙ a(e) if there is an
  // amplifier, and also constants ⊙ a(e) if it is a sigmoid
  Doubles normalized_layer(const Matrix& h, int64_t u) const {
    const Doubles& hu = h[static_cast<size_t>(u)];
    const bool links = !attributes_.empty() && !attributes_[0].empty();
    const bool amplified = links && amplifier_ != Amplifier::kNone;
    // Σ λ term(v, f(e)) / Σ λ
    const auto average = [&](size_t width, const auto& term) {
      Doubles sum(width);
      double z = 0;
      for (int64_t i = graph_.row_ptr[u]; i < graph_.row_ptr[u + 1]; ++i) {
        const auto v = static_cast<size_t>(graph_.neighbor[i]);
        const Doubles& f = attributes_[static_cast<size_t>(graph_.link[i])];
        const double lambda = gate(hu, h[v], f);
        sum = added(sum, scaled(term(v, f), lambda));
        z += lambda;
      }
      return z > 0 ? scaled(sum, 1 / z) : sum;
    };
    const Doubles s = average(hu.size(), [&](size_t v, const Doubles& f) {
      if (!amplified) return h[v];
      return multiplied(h[v], activated(added(times(w("amplifier"), f), w("amplifier.bias")[0])));
    });
    Doubles sum = added(times(w("w2"), s), w("bias")[0]);
    if (links) {
      const auto k = attributes_[0].size();
      sum = added(sum, times(w("w3"), average(k, [](size_t, const Doubles& f) { return f; })));
    }
    if (amplifier_ == Amplifier::kSigmoid && links) {
      const size_t width = w("ones").size();
      const Doubles ones = average(width, [&](size_t, const Doubles& f) {
        return activated(added(times(w("ones"), f), w("ones.bias")[0]));
      });
      sum = added(sum, times(w("w2.ones"), ones));
    }
    return combined(times(w("w1"), hu), sum);
  }

  Doubles combined(const Doubles& own, const Doubles& sum) const {
    if (combine_ == Combine::kAdd) return mapped(added(own, sum), relu);
    if (combine_ == Combine::kMultiply) return mapped(multiplied(own, sum), relu);
    Doubles both = own;
    both.insert(both.end(), sum.begin(), sum.end());
    return mapped(both, relu);
  }

  Doubles layer(const Matrix& h, int64_t u, bool last) const {
    const Doubles& hu = h[static_cast<size_t>(u)];
    // s(u) = Σ λ h(v) ⊙ a(e)
    const auto s = [&] {
      return aggregate(u, hu.size(), options_.aggregate, [&](size_t v, const Doubles& f) {
        return scaled(multiplied(h[v], amplifier(f, hu.size())), gate(hu, h[v], f));
      });
    };
    const std::string& model = options_.model;
    if (model == "lase") return normalized_layer(h, u);
    if (model == "sage") return combined(times(w("w1"), hu), times(w("w2"), s()));
    if (model == "rw" || model == "wl") {
      const Doubles factor = times(w("w"), features_[static_cast<size_t>(u)]);
      return multiplied(s(), added(factor, w("bias")[0]));
    }
    if (model == "concat") {
      const Doubles nodes =
          aggregate(u, hu.size(), options_.aggregate,
                    [&](size_t v, const Doubles& f) { return scaled(h[v], gate(hu, h[v], f)); });
      Doubles sum = times(w("w2"), nodes);
      const Doubles links = aggregate(
          u, sum.size(), options_.aggregate,
          [&](size_t v, const Doubles& f) { return scaled(times(w("w3"), f), gate(hu, h[v], f)); });
      return combined(times(w("w1"), hu), added(sum, links));
    }
    if (model == "graphsage") {
      const Doubles mean =
          aggregate(u, hu.size(), Aggregate::kMean, [&](size_t v, const Doubles&) { return h[v]; });
      return combined(times(w("w1"), hu), times(w("w2"), mean));
    }
    if (model == "gcn") {
      const auto root = [&](int64_t v) {
        return std::sqrt(static_cast<double>(graph_.degree(v) + 1));
      };
      const Doubles sum =
          aggregate(u, w("w").size(), Aggregate::kSum, [&](size_t v, const Doubles&) {
            return scaled(times(w("w"), h[v]), 1 / (root(u) * root(static_cast<int64_t>(v))));
          });
      const Doubles own = scaled(times(w("w"), hu), 1 / (root(u) * root(u)));
      const Doubles all = added(added(sum, own), w("bias")[0]);
      return last ? all : mapped(all, relu);
    }
    return hu;
  }

  ModelOptions options_;
  Combine combine_;
  Amplifier amplifier_;
  const Graph& graph_;
  std::map<std::string, Matrix> matrix_;
  Matrix features_;  // r(u) after relabeling
  Matrix attributes_;
  std::string prefix_;
};

}  // namespace

ReferenceOutputs reference_outputs(const Model& model, const Graph& graph, const Scaling& scaling) {
  return Reference(model, graph, scaling).run();
}

}  // namespace lase

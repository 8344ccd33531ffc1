#include "lase/sampler/divided_sampler.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>
#include <utility>

#include "lase/base/error.h"

namespace lase {

using at::Tensor;

namespace {

template <class T>
std::span<const T> values_of(const Tensor& x) {
  return {x.data_ptr<T>(), static_cast<size_t>(x.numel())};
}

// The arcs that a process has sampled from some of its rows, in the order in which they were asked
// for.
class AnsweredRows {
 public:
  // `first_link`: the number of its first arc among those of all processes.
  AnsweredRows(MessageReader& message, int64_t first_link)
      : count_(message.next<int32_t>()),
        neighbor_(message.next<int32_t>()),
        weight_(message.next<float>()),
        first_link_(first_link) {}

  int64_t arcs() const { return std::ssize(neighbor_); }
  int64_t next_count() const { return count_[row_]; }
  // Copies the arcs of the next row.
  void take(int32_t* source, int32_t* link, float* weight) {
    const int64_t n = next_count();
    std::copy_n(neighbor_.begin() + arc_, n, source);
    std::copy_n(weight_.begin() + arc_, n, weight);
    std::iota(link, link + n, static_cast<int32_t>(first_link_ + arc_));
    arc_ += n;
    ++row_;
  }

 private:
  std::vector<int32_t> count_;  // arcs of each row
  std::vector<int32_t> neighbor_;
  std::vector<float> weight_;
  int64_t first_link_;
  size_t row_ = 0;
  int64_t arc_ = 0;
};

// The block of targets whose rows have been answered by their processes.
Block block_of(const DividedGraph& graph, std::span<const int64_t> targets,
               std::vector<AnsweredRows>& answered) {
  const auto rows_of = [&](int64_t node) -> AnsweredRows& {
    return answered[static_cast<size_t>(graph.place(node).process)];
  };
  const auto n = std::ssize(targets);
  Block block;
  block.target = at::arange(n, at::kLong);
  block.leading = true;
  block.row_ptr = at::empty({n + 1}, at::kLong);
  auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  std::vector<int32_t> source;
  std::vector<int32_t> link;
  std::vector<float> weight;
  row_ptr[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    AnsweredRows& rows = rows_of(targets[static_cast<size_t>(i)]);
    row_ptr[i + 1] = row_ptr[i] + rows.next_count();
    const auto size = static_cast<size_t>(row_ptr[i + 1]);
    source.resize(size);
    link.resize(size);
    weight.resize(size);
    rows.take(source.data() + row_ptr[i], link.data() + row_ptr[i], weight.data() + row_ptr[i]);
  }
  block.source = at::tensor(at::ArrayRef<int32_t>(source), at::kInt);
  block.link = at::tensor(at::ArrayRef<int32_t>(link), at::kInt);
  block.weight = at::tensor(at::ArrayRef<float>(weight), at::kFloat);
  return block;
}

}  // namespace

DividedSampler::DividedSampler(const DividedGraph& graph, const Adjacency& arcs,
                               const Sampling& sampling)
    : graph_(graph), arcs_(arcs), sampling_(sampling) {}

// Samples from the own rows.
Message DividedSampler::answer(const Message& question, size_t layer, const SampleKey& key) const {
  MessageReader reader(question);
  const auto rows = reader.next<int64_t>();
  const auto batches = reader.next<int64_t>();
  std::vector<int64_t> nodes;
  for (const int64_t row : rows) {
    require(row >= 0 && row < graph_.own_nodes().size(), "another process asks for row ", row,
            ", expected 0 to ", graph_.own_nodes().size() - 1);
    nodes.push_back(graph_.own_nodes()[row]);
  }
  const Block block = sample_rows(arcs_, {rows, nodes, batches}, sampling_, layer, key);
  const auto row_ptr = values_of<int64_t>(block.row_ptr);
  std::vector<int32_t> count;
  for (size_t i = 0; i < rows.size(); ++i) {
    count.push_back(static_cast<int32_t>(row_ptr[i + 1] - row_ptr[i]));
  }
  Message message;
  append(message, count);
  append(message, values_of<int32_t>(block.source));
  append(message, values_of<float>(block.weight));
  const Tensor links = block.link.to(at::kLong);
  append_rows(message, select_rows(graph_.own().link_attributes, values_of<int64_t>(links)));
  return message;
}

DividedSampler::Sampled DividedSampler::sample(ProcessGroup& group, std::span<const Seeds> seeds,
                                               const SampleKey& key) const {
  Sampled sampled;
  for (const Seeds& each : seeds) {
    SampleKey own = key;
    own.batch = each.batch;
    sampled.batches.emplace_back(each.nodes, sampling_, own);
  }
  std::vector<Attributes> links;
  int64_t arcs = 0;
  for (size_t layer = sampling_.fanouts.size(); layer-- > 0;) {
    const auto processes = static_cast<size_t>(group.size());
    std::vector<std::vector<int64_t>> rows(processes);
    std::vector<std::vector<int64_t>> batches(processes);
    for (size_t i = 0; i < seeds.size(); ++i) {
      for (const int64_t node : sampled.batches[i].nodes()) {
        const RowPlace place = graph_.place(node);
        const auto process = static_cast<size_t>(place.process);
        rows[process].push_back(place.row);
        batches[process].push_back(seeds[i].batch);
      }
    }
    std::vector<Message> questions(processes);
    for (size_t process = 0; process < processes; ++process) {
      append(questions[process], rows[process]);
      append(questions[process], batches[process]);
    }
    std::vector<AnsweredRows> answered;
    for (const Message& message : ask(group, std::move(questions), [&](const Message& question) {
           return answer(question, layer, key);
         })) {
      MessageReader reader(message);
      answered.emplace_back(reader, arcs);
      links.push_back(read_rows(reader, graph_.own().link_attributes));
      arcs += answered.back().arcs();
    }
    require(arcs <= kLargestNarrow, "more than ", kLargestNarrow,
            " links per batch are not supported; use a smaller batch");
    for (BatchBuilder& batch : sampled.batches) {
      batch.add(layer, block_of(graph_, batch.nodes(), answered));
    }
  }
  sampled.links = concat_rows(links);
  return sampled;
}

}  // namespace lase

#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lase/base/context.h"
#include "lase/base/part.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/inference/seeds.h"
#include "lase/sampler/neighbor_sampler.h"
#include "lase/train/snapshot.h"

namespace lase {

// Number of batches of at most `size` of n seed nodes.
inline int64_t batch_count(int64_t n, int64_t size) { return (n + size - 1) / size; }

// A batch, or a chunk of one, ready for a training step. Without seeds, it is empty.
struct BatchItem {
  std::span<const int64_t> seeds;  // valid while the source exists
  int64_t number = 0;              // of the batch
  Query query;
  Batch batch;
  std::shared_ptr<const Inputs> inputs;  // that the batch reads; null: those of all nodes
  at::Tensor hidden_labels;              // see Hidden
  at::Tensor truth;                      // of the seeds; see Objective::truth
  std::optional<Baseline> baseline;      // with a snapshot, unless the batch is in a slot
  BatchSlot* slot = nullptr;             // that batch and truth are in, if any
  Snapshot* snapshot = nullptr;          // of a batch in a slot
  double seconds = 0;                    // spent on sampling
};

// Makes the items of an epoch, one by one.
class ItemSource {
 public:
  ItemSource() = default;
  ItemSource(const ItemSource&) = delete;
  ItemSource& operator=(const ItemSource&) = delete;
  virtual ~ItemSource() = default;

  virtual int64_t items() const = 0;
  virtual const at::Device& device() const = 0;
  // Item i of 0 … items() − 1, in this order.
  virtual BatchItem make(int64_t i) = 0;
  // Number of items that a background thread may prepare ahead.
  virtual int64_t ahead() const { return 2; }
  // Whether a background thread prepares the items.
  virtual bool in_background() const { return true; }
  // Makes a pending make() in another thread fail if it waits for other processes.
  virtual void abandon() {}
};

// The batches of an epoch and their division into chunks.
struct BatchPlan {
  std::vector<int64_t> order;  // seeds of all batches
  int64_t batches = 0;         // their number; sizes differ by at most 1
  int64_t chunks = 1;          // per batch; sizes differ by at most 1
  SampleKey key = {};          // key.batch: number of the first batch

  std::span<const int64_t> seeds_of(int64_t batch) const;
  std::span<const int64_t> seeds_of(int64_t batch, int64_t chunk) const;
};

// Samples neighbors and looks up the baseline state in a snapshot, on the device of the model. The
// sampled neighbors depend only on the key. Of the chunks of a batch, a process makes only its own.
class BatchSource : public ItemSource {
 public:
  struct Options {
    BatchPlan plan;
    Snapshot* snapshot = nullptr;  // optional
    const Seeds* seeds = nullptr;  // null: nodes
    // Null: what the seeds of a batch hide.
    const Hidden* hidden = nullptr;
    at::Device device = at::kCPU;
    NeighborSampler* sampler = nullptr;    // of the device; null: batches are sampled on the CPU
    bool slots = false;                    // use those of the sampler, if it has any
    const Objective* objective = nullptr;  // null: items have no truth
  };
  using Item = BatchItem;

  // `graph` and `sampling` must outlive the source.
  BatchSource(const Adjacency& graph, const Sampling& sampling, Options options);

  int64_t items() const override { return options_.plan.batches * own_.size(); }
  const at::Device& device() const override { return options_.device; }
  Item make(int64_t i) override;
  // On the CPU, as many as are computed at the same time.
  int64_t ahead() const override {
    const int64_t at_once = std::min<int64_t>(own_.size(), thread_count());
    return options_.device.is_cpu() ? std::max(ItemSource::ahead(), at_once) : ItemSource::ahead();
  }
  // The targets of each layer in all items, sorted.
  LayerNodes targets() const;

 private:
  Item sampled(int64_t i) const;
  // Samples a batch into a slot; returns whether that is possible.
  bool fill_slot(Item& item, const SampleKey& key) const;
  // Samples a batch that is not in a slot, without what the seeds of all its chunks hide.
  void sample(Item& item, std::span<const int64_t> batch, const SampleKey& key) const;
  // Looks up the baseline state and the truth, and moves the item to the device.
  void complete(Item& item) const;

  const Adjacency& graph_;
  const Sampling& sampling_;
  Options options_;
  Part own_;  // chunks
};

}  // namespace lase

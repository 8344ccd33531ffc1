#include "experiments/runs.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "lase/base/file.h"
#include "lase/base/parallel.h"
#include "lase/ops/one_thread.h"
#include "lase/version.h"

#include "common/sha256.h"

namespace lase {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

class Runner {
 public:
  Runner(std::vector<Run> runs, const RunnerOptions& options)
      : runs_(std::move(runs)), options_(options), results_(runs_.size()) {
    if (!options_.folder.empty()) make_folder(options_.folder);
  }

  std::vector<json> run() {
    std::vector<size_t> open;
    for (size_t i = 0; i < runs_.size(); ++i) {
      runs_[i].key["lase"] = kVersion;
      if (auto result = cached(runs_[i])) {
        results_[i] = std::move(*result);
        ++progress_.found;
      } else {
        open.push_back(i);
      }
    }
    progress_.runs = std::ssize(runs_);
    progress_.done = progress_.found;
    std::stable_sort(open.begin(), open.end(),
                     [&](size_t a, size_t b) { return runs_[a].cost > runs_[b].cost; });
    for (const size_t i : open) cost_left_ += runs_[i].cost;
    const double all_cost = cost_left_;
    report("", all_cost);
    work(open, all_cost);
    if (error_) std::rethrow_exception(error_);
    if (progress_.done < progress_.runs) throw stopped_runs(!options_.folder.empty());
    return std::move(results_);
  }

 private:
  std::string file_of(const Run& run) const {
    return options_.folder + "/" + sha256_of(run.key.dump()).substr(0, 20) + ".json";
  }

  // The cached result, if any; unreadable files are ignored.
  std::optional<json> cached(const Run& run) const {
    if (options_.folder.empty()) return std::nullopt;
    const std::string path = file_of(run);
    if (!std::filesystem::is_regular_file(path)) return std::nullopt;
    const json file = json::parse(read_file(path), nullptr, false);
    if (!file.is_object() || !file.contains("result") || !file["result"].is_object() ||
        file.value("key", json()) != run.key) {
      return std::nullopt;
    }
    return file.at("result");
  }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void work(const std::vector<size_t>& open, double all_cost) {
    const ops::OneThread one_thread;
    std::atomic<size_t> next{0};
    const auto worker = [&] {
      const ThreadLimit one(1);
      for (size_t at = next++; at < open.size() && !stopped() && !failed_; at = next++) {
        try {
          finish(open[at], runs_[open[at]].work(options_.stop), all_cost);
        } catch (...) {
          if (stopped()) return;  // not a failure
          const std::lock_guard lock(mutex_);
          if (!error_) error_ = std::current_exception();
          failed_ = true;
        }
      }
    };
    const int64_t wanted = options_.threads > 0 ? options_.threads : thread_count();
    std::vector<std::thread> threads;
    for (int64_t i = 0; i < std::min(wanted, std::ssize(open)); ++i) threads.emplace_back(worker);
    for (auto& thread : threads) thread.join();
  }

  // The result of a run that was stopped early is discarded.
  void finish(size_t number, json result, double all_cost) {
    if (stopped()) return;
    const Run& run = runs_[number];
    if (!options_.folder.empty()) {
      write_file(file_of(run), json{{"key", run.key}, {"result", result}}.dump(1) + "\n");
    }
    const std::lock_guard lock(mutex_);
    results_[number] = std::move(result);
    ++progress_.done;
    cost_left_ -= run.cost;
    report(run.label, all_cost);
  }

  void report(const std::string& label, double all_cost) {
    if (!options_.progress) return;
    progress_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double done = all_cost - cost_left_;
    progress_.left = done > 0 ? progress_.seconds * cost_left_ / done : 0;
    progress_.label = label;
    options_.progress(progress_);
  }

  std::vector<Run> runs_;
  const RunnerOptions& options_;
  std::vector<json> results_;
  Clock::time_point start_ = Clock::now();
  double cost_left_ = 0;
  std::mutex mutex_;
  RunProgress progress_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
};

}  // namespace

std::vector<json> run_all(std::vector<Run> runs, const RunnerOptions& options) {
  return Runner(std::move(runs), options).run();
}

}  // namespace lase

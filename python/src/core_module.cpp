#include <ATen/ATen.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <torch/version.h>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/process_group.h"
#include "lase/graph/divided_graph.h"
#include "lase/graph/split.h"
#include "lase/inference/explain.h"
#include "lase/inference/explain_link.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/inference/predict_links.h"
#include "lase/model/layers/registry.h"
#include "lase/model/model_file.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/library.h"
#include "lase/train/trainer.h"

#include "binding.h"
#include "report/explanation.h"
#include "torch_processes.h"

// The extension module lase._core: training and inference on torch.
namespace lase::python {
namespace {

using nlohmann::json;

// A NumPy array that shares the memory of a contiguous CPU tensor.
template <class T>
py::array tensor_view(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.contiguous();
  const std::span<const T> values(plain.data_ptr<T>(), static_cast<size_t>(plain.numel()));
  auto owner = std::make_shared<const at::Tensor>(plain);
  return view(Array<T>(values, std::move(owner)), plain.sizes().vec());
}

at::Tensor to_tensor(const PlainArray<float>& values) {
  std::vector<int64_t> shape(values.shape(), values.shape() + values.ndim());
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::copy_n(values.data(), values.size(), tensor.data_ptr<float>());
  return tensor;
}

std::vector<int64_t> to_vector(const PlainArray<int64_t>& values) {
  return {values.data(), values.data() + values.size()};
}

json metrics_json(const Objective& objective, const Scores& scores) {
  json all = json::object();
  if (scores.nodes == 0) return all;
  for (const auto& metric : objective.metrics(scores)) all[metric.key] = metric.value;
  return all;
}

// ---- Training

// Progress of training, handed from the training thread to Python.
struct Progress {
  std::mutex mutex;
  std::vector<json> epochs;  // since the last call of take()
  json latest = json::object();

  void add(json epoch) {
    const std::lock_guard lock(mutex);
    latest = epoch;
    epochs.push_back(std::move(epoch));
  }
  void set(json state) {
    const std::lock_guard lock(mutex);
    latest = std::move(state);
  }
  std::pair<std::vector<json>, json> take() {
    const std::lock_guard lock(mutex);
    return {std::exchange(epochs, {}), std::exchange(latest, json::object())};
  }
};

BoundOptions all_options(TrainOptions& options) {
  BoundOptions all = train_option_table().bind(options);
  for (auto& option : checkpoint_option_table().bind(options)) all.push_back(std::move(option));
  return all;
}

// From the options `device` and `precision`.
DeviceOptions device_options(const py::dict& values) {
  DeviceOptions options;
  set_options(device_option_table().bind(options), to_json(values));
  return options;
}

json epoch_json(const EpochReport& report, const Objective& objective) {
  json epoch = {{"epoch", report.epoch},     {"epochs", report.epochs},
                {"loss", report.loss},       {"learning_rate", report.learning_rate},
                {"seconds", report.seconds}, {"links_per_second", report.links_per_second}};
  if (report.best_epoch > 0) {
    epoch["best"] = report.best;
    epoch["best_epoch"] = report.best_epoch;
    epoch["metric"] = objective.headline({}).key;
  }
  if (report.validated) {
    for (const auto& metric : objective.metrics(report.val)) {
      epoch["val_" + metric.key] = metric.value;
    }
  }
  return epoch;
}

json result_json(const TrainResult& result) {
  const auto objective = make_objective(result.trained);
  json all = {{"epochs", result.epochs},
              {"best_epoch", result.best_epoch},
              {"metric", objective->headline({}).key},
              {"val_loss", result.val_loss},
              {"val_nodes", result.val.nodes},
              {"test_nodes", result.test.nodes},
              {"val", metrics_json(*objective, result.val)},
              {"test", metrics_json(*objective, result.test)},
              {"setup_seconds", result.setup_seconds},
              {"seconds", result.seconds},
              {"train_seconds", result.train_seconds},
              {"links_per_second", result.links_per_second},
              {"processes", result.processes},
              {"bytes_per_step", result.bytes_per_step},
              {"training_links", result.training_links},
              {"links", result.links},
              {"device", result.device},
              {"on_cpu", result.on_cpu},
              {"sampling", result.sampling},
              {"features", result.features},
              {"label_inputs", result.label_inputs},
              {"common_neighbors", result.common_neighbors},
              {"stopped", result.stopped},
              {"diverged", result.diverged},
              {"checkpoint_error", result.checkpoint_error}};
  if (result.calibration) {
    all["temperature"] = result.calibration->temperature;
    all["val_log_loss_before"] = result.calibration->log_loss_before;
  }
  return all;
}

using Train = std::function<TrainResult(const TrainOptions& options)>;

// Returns the model, a summary, and the exception that stopped training early, or None. `show` is
// called with the new epochs and the latest state. Of the graph, labels and splits are read.
py::tuple train_model(const Graph& graph, const Train& train_on_graph, const py::dict& values,
                      const py::object& show, int64_t threads, ProcessGroup* processes) {
  TrainOptions options;
  set_options(all_options(options), to_json(values));
  const PreparedTask task = prepare_task(graph, task_options(options));
  Progress progress;
  options.progress = [&](const EpochReport& report) {
    progress.add(epoch_json(report, *task.objective));
  };
  options.batch_progress = [&](const BatchReport& report) {
    if (report.seconds < 2) return;  // short runs show epochs only
    progress.set({{"epoch", report.epoch},
                  {"epochs", report.epochs},
                  {"batch", report.batch},
                  {"batches", report.batches},
                  {"loss", report.loss}});
  };
  options.feature_progress = [&](double fraction) { progress.set({{"features", fraction}}); };
  std::optional<TrainResult> result;
  const auto raised = finish({.threads = threads,
                              .run =
                                  [&](const std::atomic<bool>& stop) {
                                    options.stop = &stop;
                                    const ProcessScope scope(processes);
                                    result = train_on_graph(options);
                                  },
                              .poll =
                                  [&] {
                                    const auto [epochs, latest] = progress.take();
                                    if (epochs.empty() && latest.empty()) return;
                                    show(to_python(epochs), to_python(latest));
                                  },
                              .cancel = false});
  if (!result) std::rethrow_exception(raised);
  const bool validates = !task.seeds(Split::kVal).empty();
  if (raised && result->best_epoch == 0 && (validates || result->epochs == 0)) {
    std::rethrow_exception(raised);  // there are no weights to keep
  }
  py::object exception = py::none();
  if (raised) {
    try {
      std::rethrow_exception(raised);
    } catch (py::error_already_set& error) {
      exception = error.value();
    }
  }
  json summary = result_json(*result);
  json& unused = summary["unused"] = json::array();
  for (const auto& name : unused_options(options.model)) {
    unused.push_back(name + " has no effect on the model " + options.model.model);
  }
  for (const auto& [name, reason] :
       unused_task_options(options, task.predicts, !graph.targets.split.empty())) {
    unused.push_back(name + " has no effect, because " + reason);
  }
  return py::make_tuple(std::move(result->trained), to_python(summary), exception);
}

// A process group, its store and the device of its tensors; see torch_processes().
using GroupArguments = std::tuple<py::object, py::object, std::string>;

// Calls train(processes), and tells the other processes if it fails.
template <class Call>
py::tuple together(const GroupArguments& group, const Call& train) {
  const auto processes = std::apply(torch_processes, group);
  try {
    return train(processes.get());
  } catch (const ProcessError&) {
    throw;
  } catch (const std::exception& error) {
    if (processes) processes->stop(error.what());
    throw;
  }
}

// ---- Links as targets

// The scores of the target links of a split.
py::object evaluate_links(const TrainedModel& trained, const Graph& graph, const std::string& split,
                          const py::dict& device, int64_t threads) {
  const DeviceOptions on = device_options(device);
  const auto number = split_from_word(split);
  require_option(number.has_value(), OptionName{"split"}, " ", quote(split),
                 ": must be train, val, test or none");
  json all;
  run(threads, [&] {
    const LinkPredictor predictor(trained, graph, "the graph", on);
    const Objective& objective = predictor.objective();
    const Scores scores = predictor.score(*number);
    all = metrics_json(objective, scores);
    all["links"] = scores.nodes;
    if (const auto ranking = predictor.ranking()) all["ranking"] = name_of(*ranking);
    all["metric"] = objective.headline({}).key;
    return 0;
  });
  return to_python(all);
}

// Numbers of the source and target nodes of all target links, and the outputs [links, outputs].
py::tuple predict_targets(const TrainedModel& trained, const Graph& graph, const py::dict& device,
                          int64_t threads) {
  const DeviceOptions on = device_options(device);
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  const at::Tensor outputs = run(threads, [&] {
    const LinkPredictor predictor(trained, graph, "the graph", on);
    const LinkTargets& targets = predictor.graph().targets;
    source.assign(targets.source.begin(), targets.source.end());
    target.assign(targets.target.begin(), targets.target.end());
    std::vector<int64_t> links(source.size());
    std::iota(links.begin(), links.end(), int64_t{0});
    return predictor.predict(links);
  });
  return py::make_tuple(py::array(py::cast(source)), py::array(py::cast(target)),
                        tensor_view<float>(outputs));
}

// Numbers of nodes and of their best partners, and scores.
py::tuple find_partners(const TrainedModel& trained, const Graph& graph,
                        const PlainArray<int64_t>& nodes, int64_t count,
                        const std::string& relation, const py::dict& device, int64_t threads) {
  const DeviceOptions on = device_options(device);
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  std::vector<float> score;
  const std::vector<int64_t> wanted = to_vector(nodes);
  run(threads, [&] {
    const LinkPredictor predictor(trained, graph, "the graph", on);
    for (const auto& partner : predictor.partners(wanted, count, relation)) {
      source.push_back(partner.source);
      target.push_back(partner.target);
      score.push_back(partner.score);
    }
    return 0;
  });
  return py::make_tuple(py::array(py::cast(source)), py::array(py::cast(target)),
                        py::array(py::cast(score)));
}

py::array embed_links(const TrainedModel& trained, const Graph& graph, const py::dict& device,
                      int64_t threads) {
  const DeviceOptions on = device_options(device);
  return tensor_view<float>(
      run(threads, [&] { return LinkPredictor(trained, graph, "the graph", on).embedding(); }));
}

// ---- Inference

// The embeddings [nodes, width] and the outputs [nodes, outputs].
py::tuple predict_nodes(const TrainedModel& trained, const Graph& graph,
                        const std::vector<int64_t>& fanout, uint64_t seed, const py::dict& device,
                        int64_t threads) {
  const PredictOptions options{.fanout = fanout, .seed = seed, .device = device_options(device)};
  const Predictions predictions = run(threads, [&] { return predict(trained, graph, options); });
  return py::make_tuple(tensor_view<float>(predictions.embedding),
                        tensor_view<float>(predictions.outputs));
}

py::object class_probabilities(const TrainedModel& trained, const PlainArray<float>& outputs) {
  const at::Tensor result = probabilities(trained, to_tensor(outputs));
  return result.defined() ? py::object(tensor_view<float>(result)) : py::none();
}

py::array classes(const TrainedModel& trained, const PlainArray<float>& outputs) {
  if (trained.task == Task::kMultiLabel) {
    const auto objective = make_objective(trained);
    return tensor_view<int64_t>(objective->decision_values(to_tensor(outputs)).gt(0).to(at::kLong));
  }
  return tensor_view<int64_t>(predicted_classes(trained, to_tensor(outputs)));
}

// All metrics of `outputs` [n, outputs] for n labeled nodes.
py::object score_nodes(const TrainedModel& trained, const Graph& graph,
                       const PlainArray<float>& outputs, const PlainArray<int64_t>& nodes) {
  const auto objective = make_objective(trained, labels_as_trained(trained, graph.nodes.labels));
  const Scores scores = objective->score(to_tensor(outputs), to_vector(nodes));
  json all = metrics_json(*objective, scores);
  all["nodes"] = scores.nodes;
  all["metric"] = objective->headline({}).key;
  json of_classes = json::array();
  for (const auto& each : scores.classes) {
    const auto number = static_cast<int64_t>(of_classes.size());
    of_classes.push_back({{"class", std::string(objective->labels().names[number])},
                          {"precision", each.precision()},
                          {"recall", each.recall()},
                          {"f1", each.f1()},
                          {"nodes", each.support()}});
  }
  all["classes"] = of_classes;
  return to_python(all);
}

// The explanation as text, data and SVG.
template <class AnyExplanation>
py::dict explanation_parts(const AnyExplanation& explanation, std::optional<double> target) {
  py::dict parts;
  parts["text"] = to_python(explanation_text(explanation, target));
  parts["data"] = to_python(explanation_json(explanation));
  parts["svg"] = to_python(explanation_svg(explanation, target));
  return parts;
}

ExplainOptions explain_options(int64_t output, const py::dict& shown) {
  return {.output = output,
          .neighbors = shown["neighbors"].cast<int64_t>(),
          .attributes = shown["attributes"].cast<int64_t>(),
          .features = shown["features"].cast<int64_t>()};
}

py::dict explain_node(const TrainedModel& trained, const Graph& graph, int64_t node, int64_t output,
                      const py::dict& shown, int64_t threads) {
  ExplainOptions options = explain_options(output, shown);
  options.node = node;
  const Explanation explanation = run(threads, [&] { return explain(trained, graph, options); });
  return explanation_parts(explanation, target_of(trained, explanation));
}

// `link`: the numbers of source, target and row, −1 if not given, and the relation.
py::dict explain_target(const TrainedModel& trained, const Graph& graph, const py::dict& link,
                        int64_t output, const py::dict& shown, int64_t threads) {
  const ExplainLinkOptions options{.source = link["source"].cast<int64_t>(),
                                   .target = link["target"].cast<int64_t>(),
                                   .row = link["row"].cast<int64_t>(),
                                   .relation = link["relation"].cast<std::string>(),
                                   .shown = explain_options(output, shown)};
  const LinkExplanation explanation =
      run(threads, [&] { return explain_link(trained, graph, "the graph", options); });
  return explanation_parts(explanation, target_of(trained, explanation.source));
}

}  // namespace

void define(py::module_& module) {
  py::module_::import("lase._graph");  // the type Graph
  ops::register_all();
  register_errors();
  stop_at_exit();
  module.attr("torch_version") = TORCH_VERSION;
  module.attr("most_attributes_on_gpu") = ops::cuda::most_attributes();
  module.def("supports_gpu", [](const std::string& device) {
    return ops::cuda::is_built() && ops::cuda::supports(at::Device(device));
  });
  py::class_<TrainedModel, std::shared_ptr<TrainedModel>>(module, "Model")
      .def_property_readonly(
          "task", [](const TrainedModel& model) { return std::string(task_name(model.task)); })
      .def_property_readonly(
          "predicts",
          [](const TrainedModel& model) { return std::string(name_of(model.predicts)); })
      .def_property_readonly("label_names",
                             [](const TrainedModel& model) { return to_list(model.label_names); })
      .def_property_readonly("feature_names",
                             [](const TrainedModel& model) { return to_list(model.feature_names); })
      .def_property_readonly(
          "attribute_names",
          [](const TrainedModel& model) { return to_list(model.attribute_names); })
      .def_property_readonly("label_inputs",
                             [](const TrainedModel& model) { return model.label_inputs; })
      .def_property_readonly("common_neighbors",
                             [](const TrainedModel& model) { return model.common_neighbors; })
      .def_property_readonly("temperature",
                             [](const TrainedModel& model) { return model.decision.temperature; })
      .def_property_readonly("training",
                             [](const TrainedModel& model) { return to_python(model.training); })
      .def("save",
           [](const TrainedModel& model, const std::string& path) {
             run({.run = [&](const std::atomic<bool>&) { save_model(model, path); }});
           })
      .def("predict", predict_nodes)
      .def("probabilities", class_probabilities)
      .def("classes", classes)
      .def("score", score_nodes)
      .def("explain", explain_node)
      .def("explain_link", explain_target)
      .def("evaluate_links", evaluate_links)
      .def("predict_links", predict_targets)
      .def("partners", find_partners)
      .def("embed_links", embed_links);
  module.def("load",
             [](const std::string& path) { return run(0, [&] { return load_model(path); }); });
  module.def("train", [](const Graph& graph, const py::dict& options, const py::object& show,
                         int64_t threads, const GroupArguments& group) {
    return together(group, [&](ProcessGroup* processes) {
      const Train on_graph = [&](const TrainOptions& all) { return train(graph, all); };
      return train_model(graph, on_graph, options, show, threads, processes);
    });
  });
  module.def(
      "train_on_parts", [](const std::string& folder, const py::dict& options,
                           const py::object& show, int64_t threads, const GroupArguments& group) {
        return together(group, [&](ProcessGroup* processes) {
          const auto graph = run(threads, [&] {
            const ProcessScope scope(processes);
            return std::make_unique<const DividedGraph>(folder);
          });
          const Train on_parts = [&](const TrainOptions& all) { return train(*graph, all); };
          return train_model(graph->whole().graph, on_parts, options, show, threads, processes);
        });
      });
  module.def("train_options", [] {
    TrainOptions options;
    return to_python(describe_options(all_options(options)));
  });
}

}  // namespace lase::python

PYBIND11_MODULE(_core, module) { lase::python::define(module); }

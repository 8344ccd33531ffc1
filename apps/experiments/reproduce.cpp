#include <map>

#include "lase/base/error.h"

#include "experiments/experiments.h"

namespace lase {

const std::vector<std::string>& experiment_names() {
  static const std::vector<std::string> names = {"table2", "table3",   "fig4a",       "fig4b",
                                                 "fig4c",  "theorem1", "fig4a-links", "ablation"};
  return names;
}

std::vector<Document> reproduce(const std::vector<std::string>& names,
                                const ReproduceOptions& options) {
  using Experiment = Document (*)(Lab&);
  static const std::map<std::string, Experiment> experiments = {{"table2", table2},
                                                                {"table3", table3},
                                                                {"fig4a", fig4a},
                                                                {"fig4b", fig4b},
                                                                {"fig4c", fig4c},
                                                                {"theorem1", theorem1},
                                                                {"fig4a-links", fig4a_links},
                                                                {"ablation", ablation}};
  for (const auto& name : names) {
    require(experiments.contains(name), "unknown experiment ", quote(name));
  }
  Lab lab(options);
  std::vector<Document> documents;
  for (const auto& name : names) {
    lab.say(name);
    documents.push_back(experiments.at(name)(lab));
    const Document& document = documents.back();
    lab.write(name + ".md", document.markdown());
    lab.write(name + ".csv", document.values.csv());
    if (!document.svg.empty()) lab.write(name + ".svg", document.svg);
    lab.write("index.html", html_page("GCN-LASE: reproduced results", documents));
  }
  return documents;
}

}  // namespace lase

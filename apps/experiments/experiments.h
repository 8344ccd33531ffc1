#pragma once

#include <string>
#include <vector>

#include "experiments/document.h"
#include "experiments/lab.h"

namespace lase {

// The paper's tables, figures and theorem. Each performs the runs that are not cached yet and
// compares the results with the paper.
Document table2(Lab& lab);
Document table3(Lab& lab);
Document fig4a(Lab& lab);
Document fig4b(Lab& lab);
Document fig4c(Lab& lab);
Document theorem1(Lab& lab);
// Beyond the paper, on data with informative links.
Document fig4a_links(Lab& lab);
Document ablation(Lab& lab);

const std::vector<std::string>& experiment_names();
// Writes NAME.md, NAME.csv and NAME.svg for each experiment, and an index.html with all of them.
// Throws Error for an unknown name.
std::vector<Document> reproduce(const std::vector<std::string>& names,
                                const ReproduceOptions& options);

}  // namespace lase

#pragma once

#include <string>
#include <vector>

#include "experiments/document.h"
#include "experiments/lab.h"

namespace lase {

// The paper's tables and figures and its theorem. Each runs what has not been run before, and tells
// what was found beside what the paper says.
Document table2(Lab& lab);
Document table3(Lab& lab);
Document fig4a(Lab& lab);
Document fig4b(Lab& lab);
Document fig4c(Lab& lab);
Document theorem1(Lab& lab);

// By name, or all of them. Throws Error for a name that is none.
const std::vector<std::string>& experiment_names();
// Writes NAME.md, NAME.csv and NAME.svg for each, and index.html with those asked for.
std::vector<Document> reproduce(const std::vector<std::string>& names,
                                const ReproduceOptions& options);

}  // namespace lase

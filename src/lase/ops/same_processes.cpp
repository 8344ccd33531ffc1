#include "lase/ops/same_processes.h"

#include <torch/version.h>
#include <utility>

#include "lase/base/process_group.h"
#include "lase/kernels/kernels.h"
#include "lase/version.h"

namespace lase::ops {

void require_same_processes(nlohmann::json about, const std::string& what) {
  ProcessGroup* group = current_processes();
  if (group == nullptr) return;
  about["version of lase"] = kVersion;
  about["version of libtorch"] = TORCH_VERSION;
  about["instruction set"] = kernels::instruction_set();
  require_agreement(*group, about, what);
}

}  // namespace lase::ops

#pragma once

#include <memory>

#include "lase/base/process_group.h"

#include "binding.h"

namespace lase::python {

// The processes of a torch.distributed.ProcessGroup, or null for None. All of them call this
// function. `store` is a torch.distributed.Store that they share, through which errors name the
// process that stopped, or None; later versions of torch use that of the group. The group exchanges
// tensors on `device`.
std::unique_ptr<ProcessGroup> torch_processes(const py::object& group, const py::object& store,
                                              const std::string& device);

}  // namespace lase::python

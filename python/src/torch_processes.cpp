#include "torch_processes.h"

#include <random>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "lase/distributed/c10d_group.h"

#if __has_include(<torch/csrc/distributed/c10d/GroupRegistry.hpp>)
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#else
PYBIND11_DECLARE_HOLDER_TYPE(T, c10::intrusive_ptr<T>, true);
#define LASE_CASTS_GROUPS
#endif

namespace lase::python {

namespace {

struct Connected {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  c10::intrusive_ptr<c10d::Store> store;  // or null
};

Connected connected(const py::object& group, const py::object& store) {
#ifdef LASE_CASTS_GROUPS
  Connected found{group.cast<c10::intrusive_ptr<c10d::ProcessGroup>>(), {}};
  if (!store.is_none()) found.store = store.cast<c10::intrusive_ptr<c10d::Store>>();
  return found;
#else
  // The group is found by name, because torch may have been built with another version of pybind11.
  (void)store;
  auto found = c10d::resolve_process_group(group.attr("group_name").cast<std::string>());
  return {found, found->getStore()};
#endif
}

}  // namespace

std::unique_ptr<ProcessGroup> torch_processes(const py::object& group, const py::object& store,
                                              const std::string& device) {
  if (group.is_none()) return nullptr;
  const Connected found = connected(group, store);
  C10dGroup::Options options{.device = c10::Device(device)};
  if (found.store) {
    // Every call has keys of its own in the store.
    C10dGroup processes(found.group, options);
    const py::gil_scoped_release release;
    const std::string key = gather(processes, std::to_string(std::random_device()()))[0];
    options.store = c10::make_intrusive<c10d::PrefixStore>("lase/" + key, found.store);
  }
  return std::make_unique<C10dGroup>(found.group, std::move(options));
}

}  // namespace lase::python

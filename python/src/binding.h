#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/option_table.h"
#include "lase/base/string_table.h"

// What the two extension modules share: conversions, errors, and work that Ctrl-C can stop.
namespace lase::python {

namespace py = pybind11;

py::object to_python(const nlohmann::json& value);
// Accepts None, numbers, strings, paths, sequences and dictionaries. Throws TypeError for others.
nlohmann::json to_json(py::handle value);

// Raises the errors of the library as Python exceptions: OSError and its subclasses for files that
// cannot be read or written, ValueError for invalid input, MemoryError.
void register_errors();

// Stops work that other threads are doing when the interpreter exits.
void stop_at_exit();

// Work that runs on a thread of its own, without the GIL, while the calling thread watches for
// signals.
struct Work {
  int64_t threads = 0;  // maximum, 0: all cores
  // `stop` becomes true if the signal handler raises, as it does for Ctrl-C.
  std::function<void(const std::atomic<bool>& stop)> run;
  // Called from time to time by the calling thread, with the GIL. If it raises, work stops.
  std::function<void()> poll = {};
  // Whether parallel_for throws Stopped as soon as `stop` is true; otherwise `run` ends by itself.
  bool cancel = true;
};
// Returns what the signal handler or poll() raised, or null. Throws what `run` throws, other than
// Stopped after a signal.
std::exception_ptr finish(const Work& work);
// The same, but throws what the signal handler raised.
void run(const Work& work);

// Runs a function and returns its result.
template <class Function>
auto run(int64_t threads, const Function& function) {
  decltype(function()) result;
  run({.threads = threads, .run = [&](const std::atomic<bool>&) { result = function(); }});
  return result;
}

// A read-only NumPy array that shares the memory of `values` and keeps it alive.
template <class T>
py::array view(const Array<T>& values, std::vector<int64_t> shape) {
  auto owner = std::make_unique<Array<T>>(values);
  const T* data = owner->data();
  const py::capsule base(owner.release(),
                         [](void* array) { delete static_cast<Array<T>*>(array); });
  py::array_t<T> array(std::move(shape), data, base);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}
template <class T>
py::array view(const Array<T>& values) {
  return view(values, {values.size()});
}

// Shares the memory of a NumPy array and keeps it alive.
std::shared_ptr<const void> keep_alive(const py::object& object);
template <class T>
using PlainArray = py::array_t<T, py::array::c_style>;
template <class T>
Array<T> share(const PlainArray<T>& values) {
  return Array<T>({values.data(), static_cast<size_t>(values.size())}, keep_alive(values));
}

py::list to_list(const StringTable& texts);
StringTable to_table(const py::sequence& texts);

// Name, help, type, valid values and default of each option.
nlohmann::json describe_options(const BoundOptions& options);
// Sets the options named in `values`. Throws Error for unknown names and invalid values.
void set_options(const BoundOptions& options, const nlohmann::json& values);

}  // namespace lase::python

#include "binding.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/base/process_group.h"

namespace lase::python {

using nlohmann::json;

py::object to_python(const json& value) {
  switch (value.type()) {
    case json::value_t::null:
    case json::value_t::discarded:
    case json::value_t::binary:
      return py::none();
    case json::value_t::boolean:
      return py::bool_(value.get<bool>());
    case json::value_t::number_integer:
      return py::int_(value.get<int64_t>());
    case json::value_t::number_unsigned:
      return py::int_(value.get<uint64_t>());
    case json::value_t::number_float:
      return py::float_(value.get<double>());
    case json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      return py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    }
    case json::value_t::array: {
      py::list list;
      for (const auto& item : value) list.append(to_python(item));
      return list;
    }
    case json::value_t::object: {
      py::dict dict;
      for (const auto& [key, item] : value.items()) dict[py::str(key)] = to_python(item);
      return dict;
    }
  }
  return py::none();
}

json to_json(py::handle value) {
  if (value.is_none()) return nullptr;
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (py::hasattr(value, "tolist")) return to_json(value.attr("tolist")());  // NumPy
  if (PyIndex_Check(value.ptr()) != 0) {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!number) throw py::error_already_set();
    const int64_t signed_number = PyLong_AsLongLong(number.ptr());
    if (PyErr_Occurred() == nullptr) return signed_number;
    PyErr_Clear();
    const uint64_t unsigned_number = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() == nullptr) return unsigned_number;
    PyErr_Clear();
    return PyLong_AsDouble(number.ptr());
  }
  if (py::hasattr(value, "__fspath__")) return value.attr("__fspath__")().cast<std::string>();
  if (py::isinstance<py::dict>(value)) {
    json object = json::object();
    for (const auto& [key, item] : value.cast<py::dict>()) {
      object[py::str(key).cast<std::string>()] = to_json(item);
    }
    return object;
  }
  if (PySequence_Check(value.ptr()) != 0) {
    json array = json::array();
    for (const auto item : value) array.push_back(to_json(item));
    return array;
  }
  if (PyNumber_Check(value.ptr()) != 0) return py::float_(value.cast<py::object>()).cast<double>();
  throw py::type_error("expected a number, a string, a path or a list of them, not " +
                       py::str(py::type::of(value).attr("__name__")).cast<std::string>());
}

void register_errors() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    const auto raise = [](PyObject* type, const char* text) {
      const auto message = py::reinterpret_steal<py::object>(
          PyUnicode_DecodeUTF8(text, std::strlen(text), "replace"));
      PyErr_SetObject(type, message.ptr());
    };
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const FileError& error) {
      const py::tuple arguments = py::make_tuple(error.code(), to_python(error.what()));
      PyErr_SetObject(PyExc_OSError, arguments.ptr());  // FileNotFoundError, PermissionError, …
    } catch (const ProcessError& error) {
      raise(PyExc_RuntimeError, error.what());
    } catch (const Error& error) {
      raise(PyExc_ValueError, error.what());
    } catch (const std::bad_alloc&) {
      raise(PyExc_MemoryError, "not enough memory");
    }
  });
}

namespace {

std::atomic<bool> exiting = false;
std::atomic<int> running = 0;

struct Running {
  Running() { ++running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --running; }
};

}  // namespace

void stop_at_exit() {
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    exiting = true;
    const py::gil_scoped_release release;
    constexpr auto kInterval = std::chrono::milliseconds(10);
    constexpr int kMost = 1000;  // ten seconds
    for (int i = 0; running > 0 && i < kMost; ++i) std::this_thread::sleep_for(kInterval);
  }));
}

std::exception_ptr finish(const Work& work) {
  const Running counted;  // until this thread has the GIL again
  std::atomic<bool> stop = false;
  std::exception_ptr error;
  std::exception_ptr raised;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread worker([&] {
    try {
      Context context = Context::current();
      if (work.threads > 0) context.threads = static_cast<int>(work.threads);
      context.stop = work.cancel ? &stop : nullptr;
      const ContextScope scope(context);
      work.run(stop);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  const auto watch = [&] {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (work.poll) work.poll();
    } catch (const std::exception&) {
      raised = std::current_exception();
      stop = true;
    }
  };
  {
    const py::gil_scoped_release release;
    constexpr auto kInterval = std::chrono::milliseconds(50);
    for (std::unique_lock lock(mutex); !changed.wait_for(lock, kInterval, [&] { return done; });) {
      if (exiting) stop = true;
      if (raised) continue;
      lock.unlock();
      {
        const py::gil_scoped_acquire gil;
        watch();
      }
      lock.lock();
    }
    worker.join();
  }
  if (!raised && !error) watch();  // the last progress
  if (!error) return raised;
  try {
    std::rethrow_exception(error);
  } catch (const Stopped&) {
    if (raised) return raised;
    throw;
  }
}

void run(const Work& work) {
  if (const auto raised = finish(work)) std::rethrow_exception(raised);
}

std::shared_ptr<const void> keep_alive(const py::object& object) {
  return {new py::object(object), [](const void* kept) {
            if (Py_IsInitialized() == 0) return;  // the interpreter has freed its objects
            const py::gil_scoped_acquire gil;
            delete static_cast<const py::object*>(kept);
          }};
}

py::list to_list(const StringTable& texts) {
  py::list list(texts.size());
  for (int64_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i];
    // Bytes that are not UTF-8 become lone surrogates, as in file names.
    list[i] = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  }
  return list;
}

StringTable to_table(const py::sequence& texts) {
  StringTableBuilder table;
  for (const auto text : texts) {
    const auto bytes = py::reinterpret_steal<py::bytes>(
        PyUnicode_AsEncodedString(py::str(text).ptr(), "utf-8", "surrogateescape"));
    if (!bytes) throw py::error_already_set();
    table.add(std::string_view(bytes));
  }
  return table.finish();
}

json describe_options(const BoundOptions& options) {
  static constexpr const char* kKinds[] = {"bool", "int", "float", "str", "word", "ints", "strs"};
  json all = json::array();
  for (const auto& [info, get, set] : options) {
    all.push_back({{"name", info.name},
                   {"help", info.help},
                   {"kind", kKinds[static_cast<size_t>(info.kind)]},
                   {"valid", info.valid},
                   {"words", info.words},
                   {"default", info.default_value},
                   {"required", info.required},
                   {"group", info.group}});
  }
  return all;
}

void set_options(const BoundOptions& options, const json& values) {
  for (const auto& [name, value] : values.items()) {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&](const auto& option) { return option.info.name == name; });
    require(found != options.end(), "unknown option ", quote(name));
    found->set(value);
  }
}

}  // namespace lase::python

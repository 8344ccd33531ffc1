#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

#include "lase/base/option_table.h"
#include "lase/graph/build.h"
#include "lase/graph/schema.h"
#include "lase/ingest/format.h"

#include "harness.h"

constexpr char kNextFile = '\x1e';  // between the files of an input

using Arguments = std::map<std::string, std::string, std::less<>>;  // flag → value

// "--separate-directions --nodes 2"
inline Arguments parse_arguments(std::string_view words) {
  Arguments arguments;
  while (!words.empty()) {
    const std::string flag(take_until(words, ' '));
    const bool has_value = flag.starts_with("--") && !words.empty() && !words.starts_with("--");
    arguments[flag] = has_value ? std::string(take_until(words, ' ')) : "";
  }
  return arguments;
}

using Paths = std::map<std::string, std::string, std::less<>>;  // option → path

// Sets the options that are among the arguments; invalid values are ignored. Options that name a
// file get its path, positional ones always.
inline void fill(const lase::BoundOptions& options, const Arguments& arguments,
                 const Paths& paths) {
  for (const auto& option : options) {
    const std::string& name = option.info.name;
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto found = arguments.find(flag);
    const auto path = paths.find(name);
    if (path != paths.end() && (option.info.positional || found != arguments.end())) {
      option.set(path->second);
    } else if (found == arguments.end()) {
      continue;
    } else if (option.info.kind == lase::OptionKind::kBool) {
      option.set(true);
    } else if (auto value = lase::option_from_text(option.info, found->second)) {
      // Large values are legitimate, but too slow here.
      constexpr int64_t kMost = 200;
      if (value->is_number_integer() && *value > kMost) value = kMost;
      try {
        option.set(*value);
      } catch (const lase::Error&) {  // ignored, as if it had not been given
      }
    }
  }
}

// Imports files. A graph that was built must open again, and the same files must import with its
// schema.
inline void import(const lase::Format& format, const Arguments& arguments, const Paths& paths) {
  static const std::string kPath = "/dev/shm/lase-fuzz-" + std::to_string(::getpid()) + ".graph";
  const auto import = format.make();
  fill(import->options(), arguments, paths);
  const auto built = lase::build_graph(import->read(nullptr));
  must_hold("a built graph", [&] {
    lase::save_graph(built.graph, kPath);
    const auto opened = lase::open_graph(kPath);
    lase::check_graph(opened, kPath);
    walk_graph(opened);
    const lase::Schema schema = lase::schema_of(opened);
    lase::require_schema(lase::build_graph(import->read(&schema)).graph, opened);
  });
  ::unlink(kPath.c_str());
}

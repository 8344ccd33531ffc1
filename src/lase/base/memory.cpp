#include "lase/base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace lase {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The number after a key in a file of "key value" lines; −1 if there is none.
int64_t value_of(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  int64_t value = 0;
  while (in >> word) {
    if (word == key && in >> value) return value;
    in.clear();
  }
  return -1;
}

// The only number in a file; −1 if the file does not exist or holds a word such as "max".
int64_t number_in(const std::string& path) {
  std::ifstream in(path);
  int64_t value = 0;
  return in >> value ? value : -1;
}

// Memory of the machine.
int64_t machine_memory() {
  const int64_t kilobytes = value_of("/proc/meminfo", "MemAvailable:");
  return kilobytes < 0 ? kUnlimited : kilobytes * 1024;
}

// Memory left in the control group (version 2) of the process; page cache can be reclaimed.
int64_t group_memory() {
  std::ifstream in("/proc/self/cgroup");
  std::string line;
  int64_t left = kUnlimited;
  while (std::getline(in, line)) {
    if (!line.starts_with("0::")) continue;
    for (const std::string& group : {line.substr(3), std::string()}) {
      const std::string folder = "/sys/fs/cgroup" + group;
      const int64_t limit = number_in(folder + "/memory.max");
      const int64_t used = number_in(folder + "/memory.current");
      if (limit < 0 || used < 0) continue;
      const int64_t cache = std::max<int64_t>(0, value_of(folder + "/memory.stat", "file"));
      left = std::min(left, limit - std::max<int64_t>(0, used - cache));
    }
  }
  return left;
}

// Memory left below a limit of the process, given the pages it uses.
int64_t below_limit(decltype(RLIMIT_AS) resource, int64_t pages) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return static_cast<int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

int64_t process_memory() {
  std::ifstream in("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  int64_t shared = 0;
  int64_t text = 0;
  int64_t libraries = 0;
  int64_t data = 0;
  if (!(in >> size >> resident >> shared >> text >> libraries >> data)) return kUnlimited;
  return std::min(below_limit(RLIMIT_AS, size), below_limit(RLIMIT_DATA, data));
}

}  // namespace

int64_t available_memory() {
  return std::max<int64_t>(0, std::min({machine_memory(), group_memory(), process_memory()}));
}

}  // namespace lase

#include "lase/kernels/cpu/chosen.h"

#include <string_view>

#include "lase/base/error.h"

namespace lase::kernels {
namespace {

#if defined(LASE_X86)
InstructionSet best_instructions() {
  const char* wanted = std::getenv("LASE_ISA");
  const std::string_view most = wanted == nullptr || *wanted == '\0' ? "avx512" : wanted;
  require(most == "avx512" || most == "avx2" || most == "generic", "LASE_ISA ", quote(most),
          ": expected avx512, avx2 or generic");
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (avx512 && most == "avx512") return avx512_instructions();
  if (avx2 && most != "generic") return avx2_instructions();
  return generic_instructions();
}
#else
InstructionSet best_instructions() { return generic_instructions(); }
#endif

}  // namespace

const InstructionSet& isa() {
  static const InstructionSet chosen = best_instructions();
  return chosen;
}

const char* instruction_set() { return isa().name; }

}  // namespace lase::kernels

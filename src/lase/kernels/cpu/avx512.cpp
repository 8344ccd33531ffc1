#include "lase/kernels/cpu/instructions.h"

namespace lase::kernels {

InstructionSet avx512_instructions() { return instructions("avx512"); }

}  // namespace lase::kernels

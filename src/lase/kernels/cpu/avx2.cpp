#include "lase/kernels/cpu/instructions.h"

namespace lase::kernels {

InstructionSet avx2_instructions() { return instructions("avx2"); }

}  // namespace lase::kernels

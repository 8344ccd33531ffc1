#include "lase/kernels/cpu/instructions.h"

namespace lase::kernels {

InstructionSet generic_instructions() { return instructions("generic"); }

}  // namespace lase::kernels

#include "lase/kernels/cpu/instructions.h"

namespace lase::kernels {

InstructionSet baseline_instructions() { return instructions("baseline"); }

}  // namespace lase::kernels

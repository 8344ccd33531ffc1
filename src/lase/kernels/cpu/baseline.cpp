#include "lase/kernels/cpu/link_piece.h"

namespace lase::kernels {

InstructionSet baseline_instructions() { return instructions("baseline"); }

}  // namespace lase::kernels

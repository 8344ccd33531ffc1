#include "lase/kernels/cpu/link_piece.h"

namespace lase::kernels {

InstructionSet avx512_instructions() { return instructions("avx512"); }

}  // namespace lase::kernels

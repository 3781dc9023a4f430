// The readable form of programs. `parse(print(program))` is the same program, without the host functions of its library
// calls. Buffers, then loops and instructions, destination first:
//
//   program "matmul" target "trn2" {
//     hbm %parameter0 : f32[4096] parameter 0
//     sbuf %a : bf16[128 x 512] copies 2 at 0
//     for %i0 in 0..8 independent {
//       #0 dma_copy.sync %a[1 x 128, 1 x 512] <- %parameter0[512 x 128, 1 x 512] + 65536*%i0 wait #1(-2)
//       #1 tensor_scalar.vector %b[1 x 128, 1 x 512] <- %a[1 x 128, 1 x 512] {op0 = add, scalar0 = f32 1} wait #0
//     }
//   }
//
// An access is a list of dimensions "step x size", in the last iteration of a loop perhaps shorter ("1 x 128:5@%i0"),
// then
// "@64" for its first partition, "+" for its offset, "as" for another type, "index" for an indirect DMA. "wait #1(-2)"
// waits for the execution of #1 two iterations ago.
#pragma once

#include <string>
#include <string_view>

#include "neuroncore/program.h"

namespace opentrn::neuroncore {

std::string print(const Program& program);

/// One instruction as in the text of the program.
std::string print(const Program& program, int32_t instruction);

/// Errors name line and column.
Program parse(std::string_view text);

/// The tables of instructions, operations and functions as Markdown.
std::string instruction_table_markdown();

}  // namespace opentrn::neuroncore

// What each instruction demands of its operands beside what holds for all (operands.cpp). Named in the table of
// instructions.
#pragma once

#include "neuroncore/checker/instruction_check.h"

namespace opentrn::neuroncore::checker {

void nc_matmul(InstructionCheck& check);
void nc_transpose(InstructionCheck& check);
void tensor_tensor(InstructionCheck& check);
void tensor_scalar(InstructionCheck& check);
void scalar_tensor_tensor(InstructionCheck& check);
void activation(InstructionCheck& check);
void activation_reduce(InstructionCheck& check);
void tensor_reduce(InstructionCheck& check);
void tensor_partition_reduce(InstructionCheck& check);
void tensor_tensor_scan(InstructionCheck& check);
void tensor_copy(InstructionCheck& check);
void tensor_copy_predicated(InstructionCheck& check);
void select_reduce(InstructionCheck& check);
void memset(InstructionCheck& check);
void iota(InstructionCheck& check);
void affine_select(InstructionCheck& check);
void max8(InstructionCheck& check);
void nc_find_index8(InstructionCheck& check);
void nc_match_replace8(InstructionCheck& check);
void nc_stream_shuffle(InstructionCheck& check);
void dma_copy(InstructionCheck& check);
void register_load(InstructionCheck& check);
void checked_index(InstructionCheck& check);
void check_predicate(InstructionCheck& check);
void library_call(InstructionCheck& check);

}  // namespace opentrn::neuroncore::checker

#include "compiler/dynamic_offset.h"

namespace opentrn::compiler {

using neuroncore::Access;
using neuroncore::AluOp;
using neuroncore::Builder;

DType index_dtype(DType dtype) {
  switch (dtype) {
    case DType::I64:
    case DType::U64:
    case DType::U32: return dtype;
    default: return DType::I32;
  }
}

void emit_clamp(Builder& program, const Access& dst, const Access& src, int64_t limit) {
  const DType dtype = index_dtype(src.dtype);
  program.tensor_scalar(dst, src, AluOp::Max, neuroncore::immediate(dtype, int64_t{0}), false, AluOp::Min,
                        neuroncore::immediate(dtype, limit), false, neuroncore::Engine::GpSimd);
}

std::vector<neuroncore::Term> emit_dynamic_offset(Emitter& emitter, const std::vector<ir::Value>& starts,
                                                  const ir::View& view, const Dims& sizes) {
  Builder& program = emitter.program();
  std::vector<neuroncore::Term> terms;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t limit = view.shape[i] - sizes[i];
    if (limit == 0) continue;  // there is only one place
    const Location& index = emitter.location(starts[i]);
    const Access loaded = program.tile(program.sbuf(index.view.dtype, 1, 1));
    const Access clamped = program.tile(program.sbuf(DType::I32, 1, 1));  // registers have 32 bits
    program
        .dma_copy(loaded, program.hbm_access(index.buffer, index.view.offset / index.view.item_size(), {},
                                             {{.step = 1, .size = 1}, {.step = 1, .size = 1}}))
        .inputs[0]
        .dtype = index.view.dtype;
    emit_clamp(program, clamped, loaded, limit);
    const int32_t start = emitter.offset_register(i);
    program.register_load(start, clamped);
    terms.push_back({.index = start, .coefficient = view.strides[i], .is_register = true});
  }
  return terms;
}

}  // namespace opentrn::compiler

#include "neuroncore/emulator/instructions/pipeline.h"

#include <algorithm>

#include "neuroncore/emulator/instructions/types.h"

namespace opentrn::neuroncore::emulator {

namespace {

// Collects tiles, immediates and operations while an instruction is translated.
class Planner {
 public:
  Planner(const Request& request, ComputeType type, bool patterns) : request_(request), patterns_(patterns) {
    plan_.pipeline.type = type;
    plan_.pipeline.item = size_of(type);
    plan_.pipeline.chunk = kChunkBytes / size_of(type);
  }

  uint8_t tile(const Operand& operand) {
    Operand stored = operand;
    if (stored.free_elements() == 1) stored.free = {{0, request_.outputs[0].free_elements()}};
    const DType dtype = read_as(operand.dtype);
    const bool same = dtype == dtype_of(plan_.pipeline.type);
    plan_.pipeline.tiles.push_back({.load = same ? nullptr : kernels().load(dtype, plan_.pipeline.type),
                                    .copy = kernels().copy(operand.item()),
                                    .item = operand.item()});
    plan_.tiles.push_back(std::move(stored));
    return static_cast<uint8_t>(plan_.tiles.size() - 1);
  }

  uint8_t immediate(const Immediate& value) {
    Immediate read = value;
    read.dtype = read_as(value.dtype);
    Pipeline& pipeline = plan_.pipeline;
    pipeline.immediates[pipeline.immediate_count] = converted(read, pipeline.type).bytes;
    return static_cast<uint8_t>(kFirstImmediate + pipeline.immediate_count++);
  }

  uint8_t scalar(size_t position) {
    const Instruction& instruction = request_.instruction;
    if (!(position == 0 ? instruction.has_scalar0 : instruction.has_scalar1)) refuse(request_, "a scalar is missing");
    if (const auto number = immediate_scalar(instruction, position)) return immediate(*number);
    return tile(request_.inputs[static_cast<size_t>(instruction.scalar_operand[position])]);
  }

  uint8_t binary(AluOp op, uint8_t a, uint8_t b) {
    const BinaryKernel kernel = kernels().binary(op, plan_.pipeline.type);
    if (kernel == nullptr) refuse(request_, "an operation that has no meaning for the type");
    return append({.binary = kernel, .a = a, .b = b});
  }

  uint8_t unary(AluOp op, uint8_t a) {
    const UnaryKernel kernel = kernels().unary(op, plan_.pipeline.type);
    if (kernel == nullptr) refuse(request_, "an operation that has no meaning for the type");
    return append({.unary = kernel, .a = a});
  }

  uint8_t activation(ActivationFunction function, uint8_t a) {
    if (function == ActivationFunction::Copy) return a;
    const UnaryKernel kernel = kernels().activation(function, plan_.pipeline.type);
    if (kernel == nullptr) refuse(request_, "a function that has no meaning for the type");
    return append({.unary = kernel, .a = a});
  }

  /// `op` on a value and the scalar at `position`; Bypass changes nothing.
  uint8_t with_scalar(AluOp op, uint8_t value, size_t position, bool reverse) {
    if (op == AluOp::Bypass) return value;
    if (info(op).operands == 1) return unary(op, value);
    const uint8_t other = scalar(position);
    return reverse ? binary(op, other, value) : binary(op, value, other);
  }

  PipelinePlan finish() {
    Pipeline& pipeline = plan_.pipeline;
    const DType dtype = read_as(request_.outputs[0].dtype);
    pipeline.out_item = size_of(dtype);
    pipeline.copy = kernels().copy(pipeline.item);
    if (dtype != dtype_of(pipeline.type)) pipeline.store = kernels().store(pipeline.type, dtype);
    assign_places(pipeline);  // one instruction has few operations
    return std::move(plan_);
  }

 private:
  DType read_as(DType dtype) const { return patterns_ && dtype != DType::Bool ? unsigned_of(dtype) : dtype; }

  uint8_t append(const Operation& operation) {
    plan_.pipeline.operations.push_back(operation);
    return plan_.pipeline.last_value();
  }

  const Request& request_;
  bool patterns_;
  PipelinePlan plan_;
};

bool is_pattern_operation(const Instruction& instruction) {
  if (instruction.opcode == Opcode::Activation) return instruction.function == ActivationFunction::PopulationCount;
  return info(instruction.op0).alu_class == AluClass::Bitvec || info(instruction.op1).alu_class == AluClass::Bitvec;
}

void translate_activation(const Request& request, Planner& planner) {
  const Instruction& instruction = request.instruction;
  uint8_t value = planner.tile(request.inputs[0]);
  if (instruction.has_scalar0) value = planner.binary(AluOp::Multiply, value, planner.scalar(0));
  if (instruction.has_scalar1) value = planner.binary(AluOp::Add, value, planner.scalar(1));
  planner.activation(instruction.function, value);
}

void translate(const Request& request, Planner& planner) {
  const Instruction& instruction = request.instruction;
  switch (instruction.opcode) {
    case Opcode::TensorTensor: {
      const uint8_t left = planner.tile(request.inputs[0]);
      planner.binary(instruction.op0, left, planner.tile(request.inputs[1]));
      return;
    }
    case Opcode::TensorScalar: {
      const uint8_t value = planner.tile(request.inputs[0]);
      const uint8_t first = planner.with_scalar(instruction.op0, value, 0, instruction.reverse0);
      planner.with_scalar(instruction.op1, first, 1, instruction.reverse1);
      return;
    }
    case Opcode::ScalarTensorTensor: {
      const uint8_t value = planner.tile(request.inputs[0]);
      const uint8_t first = planner.with_scalar(instruction.op0, value, 0, instruction.reverse0);
      const uint8_t other = planner.tile(request.inputs[1]);
      if (instruction.reverse1) {
        planner.binary(instruction.op1, other, first);
      } else {
        planner.binary(instruction.op1, first, other);
      }
      return;
    }
    case Opcode::Activation:
    case Opcode::ActivationReduce: return translate_activation(request, planner);
    case Opcode::DmaCopy:
      if (!instruction.accumulate) break;
      {
        const uint8_t old = planner.tile(request.outputs[0]);
        planner.binary(AluOp::Add, old, planner.tile(request.inputs[0]));
      }
      return;
    default: break;
  }
  planner.tile(request.inputs[0]);
}

// Functions that have no meaning for integers compute in float32.
ComputeType type_for(const Request& request) {
  const Instruction& instruction = request.instruction;
  const ComputeType type = compute_type(request);
  const bool activation = instruction.opcode == Opcode::Activation || instruction.opcode == Opcode::ActivationReduce;
  if (!activation || instruction.function == ActivationFunction::Copy) return type;
  if (kernels().activation(instruction.function, type) != nullptr) return type;
  return type == ComputeType::I64 || type == ComputeType::U64 ? ComputeType::F64 : ComputeType::F32;
}

}  // namespace

PipelinePlan plan_pipeline(const Request& request) {
  const bool patterns = is_pattern_operation(request.instruction);
  Planner planner(request, patterns ? pattern_type(request) : type_for(request), patterns);
  translate(request, planner);
  return planner.finish();
}

bool assign_places(Pipeline& pipeline) {
  std::array<size_t, kMostPlaces> busy_until{};  // the last operation that reads the place
  const size_t count = pipeline.operations.size();
  for (size_t i = 0; i + 1 < count; ++i) {
    const size_t value = kFirstResult + i;
    size_t last_read = i;
    for (size_t later = i + 1; later < count; ++later) {
      const Operation& reader = pipeline.operations[later];
      if (reader.a == value || (reader.binary != nullptr && reader.b == value)) last_read = later;
    }
    // An operation may write where it reads.
    const auto free = std::find_if(busy_until.begin(), busy_until.end(), [i](size_t until) { return until <= i; });
    if (free == busy_until.end()) return false;
    *free = last_read;
    pipeline.operations[i].place = static_cast<uint8_t>(free - busy_until.begin());
  }
  return true;
}

const std::byte* compute_chunk(const Pipeline& pipeline, ChunkMemory& memory, int64_t n, const Addresses& addresses,
                               const Addresses& steps, std::byte* out) {
  std::array<const std::byte*, kMostValues> values;
  std::array<int64_t, kMostValues> strides;  // 1, or 0 for one element repeated
  const size_t operations = pipeline.operations.size();
  for (size_t i = 0; i < pipeline.tiles.size(); ++i) {
    const Pipeline::Tile& tile = pipeline.tiles[i];
    const std::byte* from = pointer(addresses[i + 1]);
    const int64_t step = steps[i + 1];
    const bool repeated = step == 0 && operations > 0;
    strides[i] = repeated ? 0 : 1;
    if (tile.load == nullptr && (repeated || step == tile.item || n == 1)) {
      values[i] = from;
      continue;
    }
    std::byte* to = operations == 0 ? out : memory.tiles[i].data();
    if (tile.load != nullptr) {
      tile.load(repeated ? 1 : n, to, from, step);
    } else {
      tile.copy(1, n, to, 0, tile.item, from, 0, step);
    }
    values[i] = to;
  }
  for (size_t i = 0; i < pipeline.immediate_count; ++i) {
    values[kFirstImmediate + i] = pipeline.immediates[i].data();
    strides[kFirstImmediate + i] = 0;
  }
  for (size_t i = 0; i < operations; ++i) {
    const Operation& operation = pipeline.operations[i];
    const size_t result = kFirstResult + i;
    std::byte* to = i + 1 == operations ? out : memory.places[operation.place].data();
    const std::byte* a = values[operation.a];
    int64_t a_stride = strides[operation.a];
    if (operation.binary != nullptr) {
      operation.binary(n, to, a, a_stride, values[operation.b], strides[operation.b]);
    } else {
      const bool repeated = a_stride == 0 && n > 1;
      if (repeated) {  // unary kernels take dense arrays
        pipeline.copy(1, n, to, 0, pipeline.item, a, 0, 0);
        a = to;
      }
      operation.unary(n, to, a);
    }
    values[result] = to;
    strides[result] = 1;
  }
  return values[pipeline.last_value()];
}

}  // namespace opentrn::neuroncore::emulator

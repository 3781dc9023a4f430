#include "neuroncore/builder.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/error.h"

namespace opentrn::neuroncore {

namespace {

template <typename T, typename Value>
T element(Value value) {
  if constexpr (std::is_same_v<T, ComplexHalf>) {
    return ComplexHalf(std::complex<float>(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return T(static_cast<typename T::value_type>(value));
  } else if constexpr (std::is_class_v<T>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != Value{};
  } else {
    return static_cast<T>(value);
  }
}

template <typename Value>
Immediate make_immediate(DType dtype, Value value) {
  Immediate result;
  result.dtype = dtype;
  visit_dtype(dtype, [&]<typename T>() {
    const T stored = element<T>(value);
    std::memcpy(result.bytes.data(), &stored, sizeof(T));
  });
  return result;
}

std::string named(const std::string& given, std::string_view kind, size_t number) {
  return given.empty() ? concat(kind, number) : given;
}

}  // namespace

Immediate immediate(DType dtype, double value) { return make_immediate(dtype, value); }
Immediate immediate(DType dtype, int64_t value) { return make_immediate(dtype, value); }

Builder::Builder(std::string name, std::string target) {
  program_.name = std::move(name);
  program_.target = std::move(target);
}

int32_t Builder::add_buffer(Buffer buffer) {
  program_.buffers.push_back(std::move(buffer));
  return static_cast<int32_t>(program_.buffers.size()) - 1;
}

int32_t Builder::add_text(std::string text) {
  const auto known = std::find(program_.texts.begin(), program_.texts.end(), text);
  if (known != program_.texts.end()) return static_cast<int32_t>(known - program_.texts.begin());
  program_.texts.push_back(std::move(text));
  return static_cast<int32_t>(program_.texts.size()) - 1;
}

int32_t Builder::parameter(int32_t index, DType dtype, int64_t elements) {
  return add_buffer({.name = concat("parameter", index),
                     .role = Role::Parameter,
                     .index = index,
                     .dtype = dtype,
                     .elements = elements});
}

int32_t Builder::result(int32_t index, DType dtype, int64_t elements) {
  return add_buffer(
      {.name = concat("result", index), .role = Role::Result, .index = index, .dtype = dtype, .elements = elements});
}

int32_t Builder::constant(DType dtype, std::vector<std::byte> data) {
  const auto index = static_cast<int32_t>(program_.constants.size());
  const int64_t elements = static_cast<int64_t>(data.size()) / size_of(dtype);
  program_.constants.push_back(std::move(data));
  return add_buffer({.name = concat("constant", index),
                     .role = Role::Constant,
                     .index = index,
                     .dtype = dtype,
                     .elements = elements});
}

int32_t Builder::hbm(DType dtype, int64_t elements, std::string name) {
  return add_buffer({.name = named(name, "hbm", program_.buffers.size()), .dtype = dtype, .elements = elements});
}

int32_t Builder::sbuf(DType dtype, int64_t partitions, int64_t elements, int copies, std::string name) {
  return add_buffer({.name = named(name, "sbuf", program_.buffers.size()),
                     .space = Space::Sbuf,
                     .dtype = dtype,
                     .partitions = static_cast<int32_t>(partitions),
                     .elements = elements,
                     .copies = copies});
}

int32_t Builder::psum(DType dtype, int64_t partitions, int64_t elements, int copies, std::string name) {
  return add_buffer({.name = named(name, "psum", program_.buffers.size()),
                     .space = Space::Psum,
                     .dtype = dtype,
                     .partitions = static_cast<int32_t>(partitions),
                     .elements = elements,
                     .copies = copies});
}

Access Builder::tile(int32_t id) const {
  return tile(id, {.step = 1, .size = buffer(id).partitions}, {.step = 1, .size = buffer(id).elements});
}

Access Builder::tile(int32_t id, PatternDimension partitions, PatternDimension elements) const {
  Access access;
  access.buffer = id;
  access.dtype = buffer(id).dtype;
  access.pattern = {partitions, elements};
  return access;
}

Access Builder::hbm_access(int32_t id, int64_t offset, std::vector<Term> terms,
                           std::vector<PatternDimension> pattern) const {
  Access access;
  access.buffer = id;
  access.dtype = buffer(id).dtype;
  access.offset = offset;
  access.terms = std::move(terms);
  access.pattern = std::move(pattern);
  return access;
}

int32_t Builder::begin_loop(int64_t count, bool independent) {
  const auto loop = static_cast<int32_t>(program_.loops.size());
  std::vector<Statement>& body =
      open_loops_.empty() ? program_.body : program_.loops[static_cast<size_t>(open_loops_.back())].body;
  body.push_back({.loop = loop});
  program_.loops.push_back({.count = count, .independent = independent, .body = {}});
  open_loops_.push_back(loop);
  return loop;
}

void Builder::end_loop() {
  if (open_loops_.empty())
    raise(ErrorKind::Internal, {.where = "Builder::end_loop", .what = "no loop is open in program " + program_.name});
  open_loops_.pop_back();
}

Instruction& Builder::append(Opcode opcode, Engine engine, std::vector<Access> outputs, std::vector<Access> inputs) {
  const auto number = static_cast<int32_t>(program_.instructions.size());
  std::vector<Statement>& body =
      open_loops_.empty() ? program_.body : program_.loops[static_cast<size_t>(open_loops_.back())].body;
  body.push_back({.instruction = number});
  Instruction& instruction = program_.instructions.emplace_back();
  instruction.opcode = opcode;
  instruction.engine = engine;
  instruction.outputs = std::move(outputs);
  instruction.inputs = std::move(inputs);
  return instruction;
}

void Builder::set_scalar(Instruction& instruction, int position, ScalarOperand scalar) {
  if (std::holds_alternative<std::monostate>(scalar)) return;
  const auto at = static_cast<size_t>(position);
  (position == 0 ? instruction.has_scalar0 : instruction.has_scalar1) = true;
  if (auto* number = std::get_if<Immediate>(&scalar)) {
    instruction.scalars[at] = *number;
    return;
  }
  instruction.scalar_operand[at] = static_cast<int32_t>(instruction.inputs.size());
  instruction.inputs.push_back(std::move(std::get<Access>(scalar)));
}

Instruction& Builder::nc_matmul(Access dst, Access stationary, Access moving, bool accumulate) {
  Instruction& instruction =
      append(Opcode::NcMatmul, Engine::Tensor, {std::move(dst)}, {std::move(stationary), std::move(moving)});
  instruction.accumulate = accumulate;
  return instruction;
}

Instruction& Builder::nc_transpose(Access dst, Access data, Engine engine) {
  return append(Opcode::NcTranspose, engine, {std::move(dst)}, {std::move(data)});
}

Instruction& Builder::tensor_tensor(Access dst, Access data1, Access data2, AluOp op, Engine engine) {
  Instruction& instruction =
      append(Opcode::TensorTensor, engine, {std::move(dst)}, {std::move(data1), std::move(data2)});
  instruction.op0 = op;
  return instruction;
}

Instruction& Builder::tensor_scalar(Access dst, Access data, AluOp op0, ScalarOperand operand0, bool reverse0,
                                    AluOp op1, ScalarOperand operand1, bool reverse1, Engine engine) {
  Instruction& instruction = append(Opcode::TensorScalar, engine, {std::move(dst)}, {std::move(data)});
  instruction.op0 = op0;
  instruction.op1 = op1;
  instruction.reverse0 = reverse0;
  instruction.reverse1 = reverse1;
  set_scalar(instruction, 0, std::move(operand0));
  set_scalar(instruction, 1, std::move(operand1));
  return instruction;
}

Instruction& Builder::scalar_tensor_tensor(Access dst, Access data, AluOp op0, ScalarOperand operand0, AluOp op1,
                                           Access operand1, bool reverse0, bool reverse1) {
  Instruction& instruction =
      append(Opcode::ScalarTensorTensor, Engine::Vector, {std::move(dst)}, {std::move(data), std::move(operand1)});
  instruction.op0 = op0;
  instruction.op1 = op1;
  instruction.reverse0 = reverse0;
  instruction.reverse1 = reverse1;
  set_scalar(instruction, 0, std::move(operand0));
  return instruction;
}

Instruction& Builder::activation(Access dst, ActivationFunction function, Access data, ScalarOperand scale,
                                 ScalarOperand bias) {
  const Engine engine = info(function).custom ? Engine::GpSimd : Engine::Scalar;
  Instruction& instruction = append(Opcode::Activation, engine, {std::move(dst)}, {std::move(data)});
  instruction.function = function;
  set_scalar(instruction, 0, std::move(scale));
  set_scalar(instruction, 1, std::move(bias));
  return instruction;
}

Instruction& Builder::activation_reduce(Access dst, Access sum, ActivationFunction function, Access data,
                                        ScalarOperand scale, ScalarOperand bias) {
  Instruction& instruction = activation(std::move(dst), function, std::move(data), std::move(scale), std::move(bias));
  instruction.opcode = Opcode::ActivationReduce;
  instruction.outputs.push_back(std::move(sum));
  return instruction;
}

Instruction& Builder::tensor_reduce(Access dst, AluOp op, Access data, int reduced_dimensions, Engine engine) {
  Instruction& instruction = append(Opcode::TensorReduce, engine, {std::move(dst)}, {std::move(data)});
  instruction.op0 = op;
  instruction.integers = {reduced_dimensions};
  return instruction;
}

Instruction& Builder::tensor_partition_reduce(Access dst, AluOp op, Access data) {
  Instruction& instruction = append(Opcode::TensorPartitionReduce, Engine::GpSimd, {std::move(dst)}, {std::move(data)});
  instruction.op0 = op;
  return instruction;
}

Instruction& Builder::tensor_tensor_scan(Access dst, Access data0, Access data1, ScalarOperand initial, AluOp op0,
                                         AluOp op1) {
  Instruction& instruction =
      append(Opcode::TensorTensorScan, Engine::Vector, {std::move(dst)}, {std::move(data0), std::move(data1)});
  instruction.op0 = op0;
  instruction.op1 = op1;
  set_scalar(instruction, 0, std::move(initial));
  return instruction;
}

Instruction& Builder::tensor_copy(Access dst, Access src, Engine engine) {
  return append(Opcode::TensorCopy, engine, {std::move(dst)}, {std::move(src)});
}

Instruction& Builder::tensor_copy_predicated(Access dst, Access predicate, Access src) {
  return append(Opcode::TensorCopyPredicated, Engine::Vector, {std::move(dst)}, {std::move(predicate), std::move(src)});
}

Instruction& Builder::select_reduce(Access dst, Access predicate, Access on_true, ScalarOperand on_false) {
  Instruction& instruction =
      append(Opcode::SelectReduce, Engine::Vector, {std::move(dst)}, {std::move(predicate), std::move(on_true)});
  set_scalar(instruction, 0, std::move(on_false));
  return instruction;
}

Instruction& Builder::memset(Access dst, Immediate value, Engine engine) {
  Instruction& instruction = append(Opcode::Memset, engine, {std::move(dst)}, {});
  set_scalar(instruction, 0, value);
  return instruction;
}

Instruction& Builder::iota(Access dst, int64_t base, int64_t channel_multiplier, std::vector<int64_t> steps) {
  Instruction& instruction = append(Opcode::Iota, Engine::GpSimd, {std::move(dst)}, {});
  instruction.integers = {base, channel_multiplier};
  instruction.integers.insert(instruction.integers.end(), steps.begin(), steps.end());
  return instruction;
}

Instruction& Builder::affine_select(Access dst, Access on_true, Immediate on_false, AluOp compare, int64_t base,
                                    int64_t channel_multiplier, std::vector<int64_t> steps) {
  Instruction& instruction = append(Opcode::AffineSelect, Engine::GpSimd, {std::move(dst)}, {std::move(on_true)});
  instruction.op0 = compare;
  instruction.integers = {base, channel_multiplier};
  instruction.integers.insert(instruction.integers.end(), steps.begin(), steps.end());
  set_scalar(instruction, 0, on_false);
  return instruction;
}

Instruction& Builder::max8(Access dst, Access src) {
  return append(Opcode::Max8, Engine::Vector, {std::move(dst)}, {std::move(src)});
}

Instruction& Builder::nc_find_index8(Access dst, Access data, Access values) {
  return append(Opcode::NcFindIndex8, Engine::Vector, {std::move(dst)}, {std::move(data), std::move(values)});
}

Instruction& Builder::nc_match_replace8(Access dst, Access data, Access values, Immediate replacement) {
  Instruction& instruction =
      append(Opcode::NcMatchReplace8, Engine::Vector, {std::move(dst)}, {std::move(data), std::move(values)});
  set_scalar(instruction, 0, replacement);
  return instruction;
}

Instruction& Builder::nc_stream_shuffle(Access dst, Access src, std::vector<int64_t> mask) {
  Instruction& instruction = append(Opcode::NcStreamShuffle, Engine::Vector, {std::move(dst)}, {std::move(src)});
  instruction.integers = std::move(mask);
  return instruction;
}

Instruction& Builder::dma_copy(Access dst, Access src, Engine engine) {
  // Only GpSimd writes descriptors at run time, which an indirect access needs.
  if (dst.index_operand >= 0 || src.index_operand >= 0) engine = Engine::GpSimd;
  return append(Opcode::DmaCopy, engine, {std::move(dst)}, {std::move(src)});
}

Instruction& Builder::register_load(int32_t register_index, Access src) {
  Instruction& instruction = append(Opcode::RegisterLoad, Engine::Sync, {}, {std::move(src)});
  instruction.register_index = register_index;
  return instruction;
}

Instruction& Builder::checked_index(Access dst, Access index, IndexCheck check) {
  Instruction& instruction = append(Opcode::CheckedIndex, Engine::GpSimd, {std::move(dst)}, {std::move(index)});
  instruction.integers = {check.size, check.dimension, static_cast<int64_t>(check.rule)};
  instruction.text = add_text(std::move(check.where));
  return instruction;
}

Instruction& Builder::check(Access predicate, std::string message) {
  Instruction& instruction = append(Opcode::Check, Engine::GpSimd, {}, {std::move(predicate)});
  instruction.text = add_text(std::move(message));
  return instruction;
}

Instruction& Builder::library_call(LibraryCall call, std::vector<Access> outputs, std::vector<Access> inputs) {
  Instruction& instruction = append(Opcode::LibraryCall, Engine::GpSimd, std::move(outputs), std::move(inputs));
  instruction.library = static_cast<int32_t>(program_.library.size());
  program_.library.push_back(std::move(call));
  return instruction;
}

Program Builder::finish() {
  if (!open_loops_.empty())
    raise(ErrorKind::Internal, {.where = "Builder::finish",
                                .what = "a loop is still open in program " + program_.name,
                                .got = concat("%i", open_loops_.back())});
  Program program = std::move(program_);
  program_ = {};
  return program;
}

}  // namespace opentrn::neuroncore

// The hot half of the dispatcher: packing a call into a key and its operands.
#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>

#include <cstring>

#include "torch/dispatcher.h"
#include "torch/errors.h"
#include "torch/tensors.h"
#include "torch/types.h"

namespace opentrn::torch_backend {
namespace {

// Marks in the key; the arguments' places are fixed by the operator, so they need only differ where a place has a
// choice.
constexpr uint64_t kNone = 0xFFFF'0001;
constexpr uint64_t kPresent = 0xFFFF'0002;
constexpr uint64_t kHostScalar = uint64_t{1} << 32;
constexpr uint64_t kWrappedNumber = uint64_t{1} << 33;
constexpr uint64_t kAligned = uint64_t{1} << 34;
constexpr uintptr_t kAlignment = 64;
constexpr c10::DispatchKeySet kMarks({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative});

[[noreturn]] void refuse_device(const Operator& op, const at::Tensor& tensor, c10::Device other) {
  raise(ErrorKind::Runtime, {.where = op.rule->name.data(),
                             .what = concat("Expected all tensors to be on the same device, but found at least two "
                                            "devices, ",
                                            other.str(), " and ", tensor.device().str()),
                             .got = concat("a tensor of shape ", tensor.sizes(), " on ", tensor.device().str()),
                             .expected = "all on " + (other.type() == kDeviceType ? other : tensor.device()).str() +
                                         " (a 0-dimensional CPU tensor may stay)",
                             .action = "move it with .to(\"neuron\")"});
}

/// Where the call runs: the device of its device tensors, or the current one.
void find_device(const Operator& op, const at::Tensor& tensor, Gathered& gathered) {
  const c10::Device device = tensor.device();
  if (gathered.device == device) return;
  if (gathered.device.type() == kDeviceType) refuse_device(op, tensor, gathered.device);
  gathered.device = device;
}

void pack_host_scalar(const at::Tensor& tensor, Operand& operand) {
  operand.host = true;
  if (tensor.is_complex() || tensor.is_neg()) {
    const at::Tensor plain = tensor.resolve_conj().resolve_neg();
    std::memcpy(operand.scalar, plain.const_data_ptr(), plain.itemsize());
    return;
  }
  std::memcpy(operand.scalar, tensor.const_data_ptr(), tensor.itemsize());
}

void pack_tensor(const Operator& op, const at::Tensor& tensor, Gathered& gathered) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!tensor.defined()) return gathered.key.add(kNone);
  Operand& operand = gathered.operands.emplace_back();
  operand.tensor = &tensor;
  const auto dtype = dtype_of(tensor.scalar_type());
  if (!dtype) require_dtype(tensor.scalar_type(), op.rule->name.data());
  operand.dtype = *dtype;
  const auto sizes = impl->sizes();
  uint64_t word = static_cast<uint64_t>(*dtype) | static_cast<uint64_t>(sizes.size()) << 8;
  if (impl->device_type() == kDeviceType) {
    find_device(op, tensor, gathered);
    gathered.marked |= impl->key_set().has_any(kMarks);
    operand.data = element_address(impl);
    if (reinterpret_cast<uintptr_t>(operand.data) % kAlignment == 0) word |= kAligned;
  } else if (sizes.empty() && impl->is_cpu()) {
    pack_host_scalar(tensor, operand);
    word |= kHostScalar;
    if (impl->is_wrapped_number()) word |= kWrappedNumber;
  } else {
    refuse_device(op, tensor, gathered.device.type() == kDeviceType ? gathered.device : c10::Device(kDeviceType, 0));
  }
  gathered.key.add(word);
  const auto strides = impl->strides();
  for (size_t i = 0; i < sizes.size(); ++i) {
    gathered.key.add(sizes[i]);
    gathered.key.add(strides[i]);
  }
}

template <typename T>
void put(Operand& operand, DType dtype, const T& value) {
  static_assert(sizeof(T) <= sizeof(operand.scalar));
  operand.host = true;
  operand.dtype = dtype;
  std::memcpy(operand.scalar, &value, sizeof(T));
}

void pack_scalar(const c10::IValue& value, Gathered& gathered) {
  if (value.isNone()) return gathered.key.add(kNone);
  Operand& operand = gathered.operands.emplace_back();
  if (value.isDouble()) {
    put(operand, DType::F64, value.toDouble());
  } else if (value.isInt()) {
    put(operand, DType::I64, value.toInt());
  } else if (value.isBool()) {
    put(operand, DType::Bool, value.toBool());
  } else if (value.isUnsigned()) {
    put(operand, DType::U64, value.toUInt());
  } else {
    const c10::complex<double> number = value.toComplexDouble();
    put(operand, DType::C128, number);
  }
  gathered.key.add(static_cast<uint64_t>(operand.dtype));
}

void pack_structural_scalar(const c10::IValue& value, Gathered& gathered) {
  if (value.isNone()) return gathered.key.add(kNone);
  const double number = value.toScalar().toDouble();
  uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  gathered.key.add(kPresent);
  gathered.key.add(bits);
}

void pack_integers(const c10::IValue& value, Gathered& gathered) {
  if (value.isNone()) return gathered.key.add(kNone);
  if (value.isInt()) {
    gathered.key.add(uint64_t{1});
    return gathered.key.add(value.toInt());
  }
  const auto list = value.toListRef();
  gathered.key.add(static_cast<uint64_t>(list.size()));
  for (const c10::IValue& element : list) gathered.key.add(element.toInt());
}

void pack_tensors(const Operator& op, const c10::IValue& value, Gathered& gathered) {
  if (value.isNone()) return gathered.key.add(kNone);
  const auto list = value.toListRef();
  gathered.key.add(static_cast<uint64_t>(list.size()));
  for (const c10::IValue& element : list) {
    if (element.isNone()) {
      gathered.key.add(kNone);
    } else {
      pack_tensor(op, element.toTensor(), gathered);
    }
  }
}

void pack_argument(const Operator& op, const ArgumentPlan& plan, const c10::IValue& value, Gathered& gathered) {
  switch (plan.kind) {
    case ArgumentKind::Tensor:
      if (value.isNone()) return gathered.key.add(kNone);
      return pack_tensor(op, value.toTensor(), gathered);
    case ArgumentKind::TensorList: return pack_tensors(op, value, gathered);
    case ArgumentKind::RuntimeScalar: return pack_scalar(value, gathered);
    case ArgumentKind::StructuralScalar: return pack_structural_scalar(value, gathered);
    case ArgumentKind::ScalarList: {
      if (value.isNone()) return gathered.key.add(kNone);
      gathered.key.add(static_cast<uint64_t>(value.toListRef().size()));
      for (const c10::IValue& element : value.toListRef()) pack_scalar(element, gathered);
      return;
    }
    case ArgumentKind::Integer:
    case ArgumentKind::DType:
      gathered.key.add(value.isNone() ? kNone : kPresent);
      if (!value.isNone()) gathered.key.add(value.toInt());
      return;
    case ArgumentKind::Bool: return gathered.key.add(value.isNone() ? kNone : static_cast<uint64_t>(value.toBool()));
    case ArgumentKind::IntegerList: return pack_integers(value, gathered);
    case ArgumentKind::BoolList:
      gathered.key.add(static_cast<uint64_t>(value.toListRef().size()));
      for (const c10::IValue& element : value.toListRef()) gathered.key.add(static_cast<uint64_t>(element.toBool()));
      return;
    case ArgumentKind::Text:
      gathered.key.add(value.isNone() ? kNone : kPresent);
      if (!value.isNone()) gathered.key.add(value.toStringView());
      return;
    case ArgumentKind::Generator: gathered.generator = &value; return;
    case ArgumentKind::Ignored: return;
  }
}

void derive(const Operator& op, at::ArrayRef<c10::IValue> arguments, Gathered& gathered) {
  std::vector<lowering::ScalarValue> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].kind != ArgumentKind::RuntimeScalar || arguments[i].isNone()) continue;
    const c10::Scalar scalar = arguments[i].toScalar();
    lowering::ScalarValue value;
    value.name = op.arguments[i].name;
    value.dtype = *dtype_of(scalar.type());
    if (scalar.isIntegral(true)) value.integer = scalar.toLong();
    const auto number = scalar.toComplexDouble();
    value.number = {number.real(), number.imag()};
    values.push_back(value);
  }
  gathered.derived = op.rule->derive(values);
  for (const int64_t number : gathered.derived) gathered.key.add(number);
}

/// Programs may rely on how written memory relates to what is read, so it belongs to the key.
void pack_overlaps(Gathered& gathered) {
  auto& operands = gathered.operands;
  for (size_t w = 0; w < operands.size(); ++w) {
    if (!operands[w].written) continue;
    for (size_t r = 0; r < operands.size(); ++r) {
      if (r == w || (operands[r].written && r < w)) continue;
      const OverlapKind kind = overlap(operands[w], operands[r]);
      if (kind != OverlapKind::None) gathered.key.add(w << 32 | r << 2 | static_cast<uint64_t>(kind));
    }
  }
}

int64_t span_of(const at::Tensor& tensor) {
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) == 0) return 0;
    last += (tensor.size(i) - 1) * tensor.stride(i);
  }
  return (last + 1) * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace

OverlapKind overlap(const Operand& left, const Operand& right) {
  if (left.host || right.host) return OverlapKind::None;
  const at::Tensor& a = *left.tensor;
  const at::Tensor& b = *right.tensor;
  const auto* a_storage = a.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  const auto* b_storage = b.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  if (a_storage != b_storage && a_storage->data() != b_storage->data()) return OverlapKind::None;
  if (left.data == right.data && left.dtype == right.dtype && a.sizes() == b.sizes() && a.strides() == b.strides()) {
    return OverlapKind::Identical;
  }
  const auto* a_begin = static_cast<const char*>(left.data);
  const auto* b_begin = static_cast<const char*>(right.data);
  const bool apart = a_begin + span_of(a) <= b_begin || b_begin + span_of(b) <= a_begin;
  return apart ? OverlapKind::None : OverlapKind::Partial;
}

void gather(const Operator& op, at::ArrayRef<c10::IValue> arguments, Gathered& gathered) {
  const auto default_dtype = static_cast<uint64_t>(c10::get_default_dtype_as_scalartype());
  gathered.key.add(reinterpret_cast<uint64_t>(&op) ^ default_dtype << 56);
  bool writes = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t first = gathered.operands.size();
    pack_argument(op, op.arguments[i], arguments[i], gathered);
    if (!op.arguments[i].written) continue;
    writes = true;
    for (size_t k = first; k < gathered.operands.size(); ++k) {
      // A 0-dimensional CPU tensor may be read along with device tensors, never written.
      if (gathered.operands[k].host) refuse_device(op, *gathered.operands[k].tensor, c10::Device(kDeviceType, 0));
      gathered.operands[k].written = true;
    }
  }
  if (writes) pack_overlaps(gathered);
  if (op.rule->derive != nullptr) derive(op, arguments, gathered);
}

}  // namespace opentrn::torch_backend

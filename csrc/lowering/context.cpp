#include <algorithm>
#include <numeric>

#include "lowering/rule.h"

namespace opentrn::lowering {
namespace {

template <typename T>
const T& get(const Call& call, std::string_view name) {
  const Argument& argument = call.argument(name);
  if (const T* value = std::get_if<T>(&argument)) return *value;
  raise(ErrorKind::Internal,
        {.where = call.operator_name, .what = concat("argument '", name, "' has another kind than its rule expects")});
}

}  // namespace

void decline(std::string reason) { throw Declined{std::move(reason)}; }

bool Context::has(std::string_view name) const { return !std::holds_alternative<std::monostate>(call.argument(name)); }
const TensorArgument& Context::tensor(std::string_view name) const { return get<TensorArgument>(call, name); }
const TensorList& Context::tensors(std::string_view name) const { return get<TensorList>(call, name); }
const ScalarArgument& Context::scalar(std::string_view name) const { return get<ScalarArgument>(call, name); }
int64_t Context::integer(std::string_view name) const { return get<int64_t>(call, name); }
bool Context::flag(std::string_view name) const { return get<bool>(call, name); }
double Context::number(std::string_view name) const { return get<double>(call, name); }
const Dims& Context::integers(std::string_view name) const { return get<Dims>(call, name); }
const std::vector<bool>& Context::mask(std::string_view name) const { return get<std::vector<bool>>(call, name); }
DType Context::dtype(std::string_view name) const { return get<DType>(call, name); }
const std::string& Context::text(std::string_view name) const { return get<std::string>(call, name); }

ir::Value Context::scalar_value(std::string_view name, DType dtype) const {
  const ScalarArgument& number = scalar(name);
  if (!is_complex(number.dtype) || is_complex(dtype)) return b.convert(number.value, dtype);
  const ir::Value imaginary = b.imag(number.value);
  const ir::Value is_real = b.compare(ir::ComparisonDirection::EQ, imaginary, b.splat_like(imaginary, 0));
  return b.check(is_real, b.convert(number.value, dtype),
                 concat("[", call.operator_name, "] value cannot be converted to type ", info(dtype).torch_name,
                        " without overflow"));
}

int64_t Context::dimension(int64_t dim, int64_t rank) const {
  const int64_t extent = std::max<int64_t>(rank, 1);
  if (dim >= -extent && dim < extent) return dim < 0 ? dim + extent : dim;
  refuse(ErrorKind::Index, {.what = "Dimension out of range",
                            .got = std::to_string(dim),
                            .expected = concat("a value in the range of [", -extent, ", ", extent - 1, "]"),
                            .action = "name a dimension the tensor has"});
}

Dims Context::dimensions(std::string_view name, int64_t rank, bool empty_is_all) const {
  Dims all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  if (!has(name)) return all;
  Dims dims;
  if (const auto* single = std::get_if<int64_t>(&call.argument(name))) {
    dims.push_back(*single);
  } else {
    dims = integers(name);
  }
  if (dims.empty()) return empty_is_all ? all : dims;
  for (int64_t& dim : dims) dim = dimension(dim, rank);
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end()) {
    refuse(ErrorKind::Runtime, {.what = "a dimension appears multiple times in the list of dims",
                                .got = to_string(dims),
                                .action = "name each dimension once"});
  }
  if (rank == 0) dims.clear();
  return dims;
}

ir::Value Context::random_bits(ir::TensorType type) {
  if (type.elements() == 0) return b.splat(std::move(type), 0);
  if (!random_state.valid()) {
    random_state = b.parameter({DType::U64, {2}});
    random_cursor = random_state;
  }
  const int64_t words = type.elements() * (size_of(type.dtype) / 4);
  random_blocks += (words + 3) / 4;
  const auto [state, bits] = b.rng_bit_generator(random_cursor, std::move(type));
  random_cursor = state;
  return bits;
}

ir::Value Context::random_uniform(ir::TensorType type) {
  const bool wide = type.dtype == DType::F64;
  const ir::Value bits = random_bits({wide ? DType::U64 : DType::U32, type.shape});
  const double discarded = wide ? 11 : 8;
  const ir::Value mantissa = b.binary(ir::Op::ShiftRightLogical, bits, b.splat_like(bits, discarded));
  const ir::Value number = b.convert(mantissa, type.dtype);
  return b.multiply(number, b.splat_like(number, wide ? 0x1p-53 : 0x1p-24));
}

void Context::refuse(ErrorKind kind, Complaint complaint) const {
  if (complaint.where.empty()) complaint.where = call.operator_name;
  raise(kind, complaint);
}

}  // namespace opentrn::lowering

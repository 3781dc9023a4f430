#include "neuroncore/emulator/sharing.h"

#include <algorithm>

namespace opentrn::neuroncore::emulator {

bool may_share_memory(const Program& program, int32_t left, int32_t right) {
  if (left == right) return true;
  const Buffer& one = program.buffers[static_cast<size_t>(left)];
  const Buffer& other = program.buffers[static_cast<size_t>(right)];
  if (one.role == Role::Internal && other.role == Role::Internal) {
    if (one.address < 0 || other.address < 0) return false;
    const int64_t one_end = one.address + one.elements * size_of(one.dtype);
    const int64_t other_end = other.address + other.elements * size_of(other.dtype);
    return one.address < other_end && other.address < one_end;
  }
  const Buffer& result = one.role == Role::Result ? one : other;
  const Buffer& parameter = one.role == Role::Result ? other : one;
  if (result.role != Role::Result || parameter.role != Role::Parameter) return false;
  return std::any_of(program.shared.begin(), program.shared.end(), [&](const SharedMemory& pair) {
    return pair.result == result.index && pair.parameter == parameter.index;
  });
}

bool same_start(const Program& program, int32_t left, int32_t right) {
  const Buffer& one = program.buffers[static_cast<size_t>(left)];
  const Buffer& other = program.buffers[static_cast<size_t>(right)];
  return left == right || one.role != Role::Internal || other.role != Role::Internal || one.address == other.address;
}

bool same_places(const Access& left, const Access& right) {
  const auto same_term = [](const Term& one, const Term& other) {
    return one.index == other.index && one.coefficient == other.coefficient && one.is_register == other.is_register;
  };
  // Sizes agree where both are operands of one instruction; steps of single elements do not matter.
  const auto same_dimension = [](const PatternDimension& one, const PatternDimension& other) {
    return one.size == other.size && (one.step == other.step || one.size == 1);
  };
  return left.offset == right.offset && left.partition == right.partition &&
         size_of(left.dtype) == size_of(right.dtype) &&
         std::equal(left.terms.begin(), left.terms.end(), right.terms.begin(), right.terms.end(), same_term) &&
         std::equal(left.pattern.begin(), left.pattern.end(), right.pattern.begin(), right.pattern.end(),
                    same_dimension);
}

}  // namespace opentrn::neuroncore::emulator

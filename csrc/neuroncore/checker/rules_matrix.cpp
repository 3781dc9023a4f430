// nc_matmul and nc_transpose.
#include <algorithm>

#include "neuroncore/checker/rules.h"

namespace opentrn::neuroncore::checker {

namespace {

void matmul_extents(InstructionCheck& check) {
  const Access& stationary = check.in(0);
  const Access& moving = check.in(1);
  const Access& dst = check.out();
  if (!same_count(partitions_of(stationary), partitions_of(moving)))
    check.fail("matmul-contraction", "stationary and moving tile have different numbers of partitions",
               concat(count(partitions_of(stationary)), " and ", count(partitions_of(moving))), "the same number");
  if (!same_count(partitions_of(dst), free_of(stationary)))
    check.fail("matmul-rows", "the destination has other partitions than the stationary tile has columns",
               concat(count(partitions_of(dst))), concat(count(free_of(stationary)), ", and the same at the edges"));
  if (!same_count(free_of(dst), free_of(moving)))
    check.fail("matmul-columns", "the destination has other columns than the moving tile", concat(count(free_of(dst))),
               concat(count(free_of(moving)), ", and the same at the edges"));
}

void matmul_limits(InstructionCheck& check) {
  const Machine& machine = check.machine();
  check.limit("stationary-free-size", "the stationary tile is too wide", count(free_of(check.in(0))),
              machine.stationary_free_size, "columns");
  const bool narrow = check.out().dtype == DType::BF16 && machine.moving_free_size_bf16 > 0;
  check.limit("moving-free-size", "the moving tile is too wide", count(free_of(check.in(1))),
              narrow ? machine.moving_free_size_bf16 : machine.moving_free_size, "columns");
}

void matmul_dtypes(InstructionCheck& check) {
  const DType stationary = check.in(0).dtype;
  const DType moving = check.in(1).dtype;
  for (const DType dtype : {stationary, moving}) {
    if (!matmul_takes(check.machine(), dtype))
      check.fail("matmul-dtype", "the Tensor engine does not take operands of this type", std::string(name(dtype)),
                 concat("a float type that ", check.machine().name, " has"));
  }
  const auto wide = [](DType dtype) { return size_of(dtype) >= 4; };
  if (stationary != moving && (wide(stationary) || wide(moving)))
    check.fail("matmul-mixed-dtype", "float32 can be multiplied with float32 only",
               concat(name(stationary), " and ", name(moving)), "operands of one type, or two narrow ones");
  const DType dst = check.out().dtype;
  const bool pair = (dst == DType::F64) == (stationary == DType::F64);
  if (!matmul_writes(check.machine(), dst) || !pair)
    check.fail("matmul-destination-dtype", "the destination has a type that the Tensor engine does not write",
               std::string(name(dst)),
               stationary == DType::F64                    ? "f64 for f64 operands"
               : check.machine().moving_free_size_bf16 > 0 ? concat("f32 or bf16 on ", check.machine().name)
                                                           : concat("f32 on ", check.machine().name));
}

bool within_bank(Interval bytes, int64_t bank) { return bytes.low / bank == bytes.high / bank; }

/// Every execution writes within one PSUM bank.
void one_bank(InstructionCheck& check) {
  const Access& dst = check.out();
  if (check.machine().matmul_crosses_banks || check.space(dst) != Space::Psum) return;
  const int64_t bank = check.machine().psum_bank_bytes;
  const int64_t size = size_of(dst.dtype);
  const int64_t address = std::max<int64_t>(check.buffer(dst).address, 0);
  const auto bytes = [&](bool loops) {
    const Interval elements = reach(check.program(), dst, true, [&](int32_t) { return loops; });
    return Interval{address + elements.low * size, address + (elements.high + 1) * size - 1};
  };
  if (within_bank(bytes(true), bank)) return;
  const Interval one = bytes(false);
  const int64_t length = one.high - one.low + 1;
  const bool aligned = within_bank(one, bank) && std::all_of(dst.terms.begin(), dst.terms.end(), [&](const Term& term) {
                         const int64_t step = std::abs(term.coefficient) * size;
                         const bool divides = step > 0 && bank % step == 0 && one.low % step + length <= step;
                         return step % bank == 0 || divides;
                       });
  if (aligned) return;
  check.fail("psum-bank", "the destination does not lie in one PSUM bank",
             concat("bytes ", one.low, " .. ", one.high, " of each partition"),
             concat("within one bank of ", bank, " bytes on ", check.machine().name));
}

}  // namespace

void nc_matmul(InstructionCheck& check) {
  matmul_extents(check);
  matmul_limits(check);
  matmul_dtypes(check);
  one_bank(check);
}

void nc_transpose(InstructionCheck& check) {
  const Access& data = check.in(0);
  const Access& dst = check.out();
  if (!same_count(partitions_of(dst), free_of(data)) || !same_count(free_of(dst), partitions_of(data)))
    check.fail("transpose-extent", "the destination is not the transposed shape of the data",
               concat(count(partitions_of(dst)), " x ", count(free_of(dst))),
               concat(count(free_of(data)), " x ", count(partitions_of(data)), ", and the same at the edges"));
  check.same_dtype(dst, "the destination", data);
  const bool on_tensor = check.is_on(Engine::Tensor);
  const int64_t most = on_tensor ? check.machine().stationary_free_size : kVectorTransposeBlock;
  check.limit("transpose-limit", "the data has too many partitions", count(partitions_of(data)), most, "partitions");
  check.limit("transpose-limit", "the data has too many columns", count(free_of(data)), most, "columns");
  if (!on_tensor) return;
  const int64_t item = size_of(data.dtype);
  if (item != 2 && item != 4)
    check.fail("transpose-dtype", "the Tensor engine does not transpose elements of this size", concat(item, " bytes"),
               "2 or 4 bytes");
  // Before v3 it is a product with the identity, which integers have no path for.
  if (check.machine().nki_generation < 3 && !matmul_takes(check.machine(), data.dtype))
    check.fail("matmul-dtype", "the Tensor engine does not take operands of this type", std::string(name(data.dtype)),
               concat("a float type that ", check.machine().name, " has"));
  one_bank(check);
}

}  // namespace opentrn::neuroncore::checker

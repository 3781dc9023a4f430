// What the rules of instructions are written with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "neuroncore/checker.h"
#include "neuroncore/machine.h"
#include "neuroncore/program.h"
#include "neuroncore/structure.h"

namespace opentrn::neuroncore::checker {

using Dimensions = std::span<const PatternDimension>;

/// The dimensions within a partition.
inline Dimensions free_of(const Access& access) { return Dimensions(access.pattern).subspan(1); }
inline Dimensions partitions_of(const Access& access) { return Dimensions(access.pattern).first(1); }

/// Number of elements of full tiles.
int64_t count(Dimensions dimensions);

/// The same number of elements, in full tiles and in every combination of last iterations.
bool same_count(Dimensions one, Dimensions other);

class InstructionCheck {
 public:
  InstructionCheck(const Program& program, const Machine& machine, const Structure& structure, int32_t number,
                   std::vector<Violation>& found)
      : program_(program), machine_(machine), structure_(structure), number_(number), found_(found) {}

  const Program& program() const { return program_; }
  const Machine& machine() const { return machine_; }
  const Structure& structure() const { return structure_; }
  const Instruction& instruction() const { return program_.instructions[static_cast<size_t>(number_)]; }
  int32_t number() const { return number_; }

  const Access& in(size_t position) const { return instruction().inputs[position]; }
  const Access& out(size_t position = 0) const { return instruction().outputs[position]; }
  const Buffer& buffer(const Access& access) const { return program_.buffers[static_cast<size_t>(access.buffer)]; }
  Space space(const Access& access) const { return buffer(access).space; }
  bool on_chip(const Access& access) const { return space(access) != Space::Hbm; }
  bool is_on(Engine engine) const { return instruction().engine == engine; }
  /// Inputs that are whole tiles, not scalars.
  size_t tile_inputs() const;

  /// "at most 512 on trn2"
  template <typename Limit>
  std::string at_most(const Limit& limit) const {
    return concat("at most ", limit, " on ", machine_.name);
  }
  void fail(std::string_view rule, std::string what, std::string got = {}, std::string expected = {});
  /// Fails unless `value` is within the limits.
  void limit(std::string_view rule, std::string_view what, int64_t value, int64_t most, std::string_view unit);

  /// The operand has the elements of the reference: the same partitions, as many elements in each.
  void same_extent(const Access& access, std::string_view what, const Access& reference);
  void same_partitions(const Access& access, std::string_view what, const Access& reference);
  /// One element, or `elements`, in each partition of the reference.
  void fixed_extent(const Access& access, std::string_view what, const Access& reference, int64_t elements);
  void same_dtype(const Access& access, std::string_view what, const Access& reference);
  void dtype_is(const Access& access, std::string_view what, std::span<const DType> allowed);
  /// Of the first two inputs at most one may lie in PSUM.
  void one_psum_input();
  /// The scalar at a position exists and is a [P,1] tile of a legal type, or a number.
  void scalar(size_t position, std::string_view what, const Access& reference, bool needed, bool bits = false);
  /// The engine has a unit for the operation, and operands of bit patterns are integers of one size.
  void alu(AluOp op);
  void reduces(AluOp op);
  bool uses_bits() const;

 private:
  const Program& program_;
  const Machine& machine_;
  const Structure& structure_;
  int32_t number_;
  std::vector<Violation>& found_;
};

/// Rules of all instructions; false when its operands are so broken that nothing else can be said.
bool check_operands(InstructionCheck& check);

/// Buffers: extents, capacity of the memories, addresses.
void check_memory(const Program& program, const Machine& machine, const Structure& structure,
                  std::vector<Violation>& found);

/// Waits exist, and order what has to be ordered.
bool check_waits(const Program& program, const Structure& structure, std::vector<Violation>& found);
void check_hazards(const Program& program, const Structure& structure, std::vector<Violation>& found);

/// "[nc_matmul #12]"
std::string label(const Program& program, int32_t instruction);

}  // namespace opentrn::neuroncore::checker

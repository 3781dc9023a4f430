#include "neuroncore/emulator/product.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "neuroncore/emulator/kernels.h"
#include "neuroncore/emulator/nest.h"
#include "neuroncore/emulator/sharing.h"

namespace opentrn::neuroncore::emulator {

namespace {

/// One instruction and the loops around it that hold nothing else, outermost first.
struct Step {
  const Instruction* instruction = nullptr;
  int32_t number = -1;
  std::vector<int32_t> loops;
};

constexpr int64_t kMostSteps = 1024;  // of k in one chunk, as the kernel wants it

bool is_direct(const Access& access) { return access.index_operand < 0; }

/// Two dimensions of an access, and where it begins.
bool same_access(const Access& left, const Access& right) {
  const auto same_dimension = [](const PatternDimension& one, const PatternDimension& other) {
    return one.step == other.step && one.size == other.size && one.tail_loop == other.tail_loop &&
           one.tail == other.tail;
  };
  const auto same_term = [](const Term& one, const Term& other) {
    return one.index == other.index && one.coefficient == other.coefficient && one.is_register == other.is_register;
  };
  return left.buffer == right.buffer && left.dtype == right.dtype && left.offset == right.offset &&
         left.partition == right.partition &&
         std::equal(left.pattern.begin(), left.pattern.end(), right.pattern.begin(), right.pattern.end(),
                    same_dimension) &&
         std::is_permutation(left.terms.begin(), left.terms.end(), right.terms.begin(), right.terms.end(), same_term);
}

// The lowest size that a dimension has in any iteration.
int64_t least_size(const PatternDimension& dimension) {
  return dimension.tail_loop >= 0 ? std::min(dimension.size, dimension.tail) : dimension.size;
}

int64_t least_free_size(const Access& access) {
  int64_t least = 1;
  for (size_t i = 1; i < access.pattern.size(); ++i) least *= least_size(access.pattern[i]);
  return least;
}

class Finder {
 public:
  Finder(const Program& program, const std::vector<int32_t>& uses) : program_(program), uses_(uses) {}

  std::optional<Product> find(std::span<const Statement> statements) {
    if (statements.size() < 2) return std::nullopt;
    const auto first = step_of(statements[0]);
    if (!first || !is_product(*first, false) || first->loops.size() > 1) return std::nullopt;
    auto rest = step_of(statements[1]);
    if (rest && !is_product(*rest, true)) rest.reset();
    const size_t before = rest ? 2 : 1;
    if (statements.size() <= before) return std::nullopt;
    const auto copy = step_of(statements[before]);
    if (!copy || copy->instruction->opcode != Opcode::TensorCopy) return std::nullopt;
    auto product = join(*first, rest ? &*rest : nullptr, *copy);
    if (product) product->statements = before + 1;
    return product;
  }

 private:
  std::optional<Step> step_of(Statement statement) const {
    Step step;
    while (statement.loop >= 0) {
      const Loop& loop = program_.loops[static_cast<size_t>(statement.loop)];
      if (loop.body.size() != 1 || loop.count < 1) return std::nullopt;
      step.loops.push_back(statement.loop);
      statement = loop.body[0];
    }
    step.number = statement.instruction;
    step.instruction = &program_.instructions[static_cast<size_t>(statement.instruction)];
    return step;
  }

  static bool is_product(const Step& step, bool accumulates) {
    const Instruction& instruction = *step.instruction;
    return instruction.opcode == Opcode::NcMatmul && instruction.accumulate == accumulates && !instruction.is_transpose;
  }

  int64_t count(int32_t loop) const { return program_.loops[static_cast<size_t>(loop)].count; }

  bool is_hbm(const Access& access) const {
    return program_.buffers[static_cast<size_t>(access.buffer)].space == Space::Hbm;
  }

  // Makes one dimension out of a dimension and the loop that goes over its tiles.
  bool absorb(Access& access, size_t dimension, int32_t loop) const {
    if (dimension >= access.pattern.size()) return false;
    PatternDimension& tiles = access.pattern[dimension];
    const auto is_it = [&](const Term& term) { return !term.is_register && term.index == loop; };
    int64_t coefficient = 0;
    for (const Term& term : access.terms) coefficient += is_it(term) ? term.coefficient : 0;
    if (coefficient != tiles.step * tiles.size) return false;
    std::erase_if(access.terms, is_it);
    if (tiles.tail_loop >= 0 && tiles.tail_loop != loop) return false;
    const int64_t end = tiles.tail_loop == loop ? tiles.tail : tiles.size;
    tiles = {.step = tiles.step, .size = (count(loop) - 1) * tiles.size + end};
    return std::none_of(access.pattern.begin(), access.pattern.end(),
                        [&](const PatternDimension& one) { return one.tail_loop == loop; });
  }

  static bool depends_on(const Access& access, int32_t loop) {
    return std::any_of(access.terms.begin(), access.terms.end(),
                       [&](const Term& term) { return !term.is_register && term.index == loop; }) ||
           std::any_of(access.pattern.begin(), access.pattern.end(),
                       [&](const PatternDimension& dimension) { return dimension.tail_loop == loop; });
  }

  /// A step with its tiles of rows put together. `sums` keeps the loop over them, under a number that is the same for
  /// all steps.
  struct Rows {
    Access stationary, moving, sums;
    int64_t tiles = 1;
  };

  static constexpr int32_t kRowsLoop = -2;

  static Access renumbered(Access access, int32_t loop) {
    for (Term& term : access.terms) {
      if (!term.is_register && term.index == loop) term.index = kRowsLoop;
    }
    for (PatternDimension& dimension : access.pattern) {
      if (dimension.tail_loop == loop) dimension.tail_loop = kRowsLoop;
    }
    return access;
  }

  std::optional<Rows> rows_of(const Step& step, bool tiled) const {
    Rows rows{step.instruction->inputs[0], step.instruction->inputs[1], step.instruction->outputs[0]};
    if (!tiled) return rows;
    const int32_t loop = step.loops.back();
    if (!absorb(rows.stationary, 1, loop) || depends_on(rows.moving, loop)) return std::nullopt;
    rows.sums = renumbered(std::move(rows.sums), loop);
    rows.tiles = count(loop);
    return rows;
  }

  // The tiles of sums lie beside each other.
  static bool has_own_places(const Access& sums, int64_t tiles) {
    if (tiles == 1) return true;
    int64_t end = 0;
    for (size_t i = 1; i < sums.pattern.size(); ++i) end += (sums.pattern[i].size - 1) * std::abs(sums.pattern[i].step);
    return std::any_of(sums.terms.begin(), sums.terms.end(), [&](const Term& term) {
      return term.index == kRowsLoop && !term.is_register && term.coefficient > end;
    });
  }

  // Adds the steps of k that `rest` has to those of `first`.
  bool extend(Access& first, Access rest, const Step& step, bool tiled) const {
    const size_t loops = step.loops.size() - (tiled ? 1 : 0);
    if (loops > 1) return false;
    const int64_t chunk = first.pattern[0].size;
    if (first.pattern[0].tail_loop >= 0 || rest.pattern[0].step != first.pattern[0].step) return false;
    if (loops == 1) {
      if (rest.pattern[0].size != chunk || !absorb(rest, 0, step.loops[0])) return false;
    } else if (rest.pattern[0].size > chunk || rest.pattern[0].tail_loop >= 0) {
      return false;
    }
    const int64_t more = rest.pattern[0].size;
    rest.offset -= chunk * first.pattern[0].step;
    rest.pattern[0] = first.pattern[0];
    if (!same_access(first, rest)) return false;
    first.pattern[0].size += more;
    return true;
  }

  std::optional<Product> join(const Step& first, const Step* rest, const Step& copy) const {
    const bool tiled = !first.loops.empty();
    if (copy.loops.size() != first.loops.size()) return std::nullopt;
    if (rest != nullptr && rest->loops.size() < first.loops.size()) return std::nullopt;
    const auto rows = rows_of(first, tiled);
    if (!rows || !has_simple_shape(*rows, first)) return std::nullopt;
    Product product;
    product.stationary = rows->stationary;
    product.moving = rows->moving;
    product.instructions = {first.number};
    product.chunk = rows->stationary.pattern[0].size;
    if (rest != nullptr) {
      const auto more = rows_of(*rest, tiled);
      if (!more || more->tiles != rows->tiles || !same_access(more->sums, rows->sums)) return std::nullopt;
      if (kMostSteps % product.chunk != 0 || product.chunk % 2 != 0) return std::nullopt;
      if (!extend(product.stationary, more->stationary, *rest, tiled)) return std::nullopt;
      if (!extend(product.moving, more->moving, *rest, tiled)) return std::nullopt;
      product.instructions.push_back(rest->number);
    }
    if (!add_copy(product, *rows, copy, tiled)) return std::nullopt;
    const auto sums = static_cast<size_t>(rows->sums.buffer);
    if (static_cast<size_t>(uses_[sums]) != product.instructions.size()) return std::nullopt;
    if (overlaps(product)) return std::nullopt;
    product.multiplications = product.stationary.pattern[0].size * product.stationary.pattern[1].size;
    for (size_t i = 1; i < product.moving.pattern.size(); ++i)
      product.multiplications *= product.moving.pattern[i].size;
    return product;
  }

  bool has_simple_shape(const Rows& rows, const Step& first) const {
    const DType dtype = rows.stationary.dtype;
    const auto& tile = first.instruction->inputs[0];
    return rows.stationary.pattern.size() == 2 && rows.moving.pattern.size() == 2 && rows.sums.pattern.size() == 2 &&
           dtype == rows.moving.dtype && rows.sums.dtype == DType::F32 && kernels().chain(dtype) != nullptr &&
           is_hbm(rows.stationary) && is_hbm(rows.moving) && rows.stationary.pattern[0].size <= kMostSteps &&
           rows.stationary.pattern[0].tail_loop < 0 && rows.moving.pattern[0].tail_loop < 0 &&
           least_free_size(tile) > kFewLines && least_free_size(rows.moving) > kFewLines &&
           has_own_places(rows.sums, rows.tiles);
  }

  bool add_copy(Product& product, const Rows& rows, const Step& copy, bool tiled) const {
    product.out = copy.instruction->outputs[0];
    Access sums = copy.instruction->inputs[0];
    if (!is_hbm(product.out) || !is_direct(product.out) || product.out.pattern.size() != 2) return false;
    if (!is_float(product.out.dtype) || kernels().store(ComputeType::F32, product.out.dtype) == nullptr) return false;
    if (tiled) {
      const int32_t loop = copy.loops.back();
      if (count(loop) != rows.tiles || !absorb(product.out, 0, loop)) return false;
      sums = renumbered(std::move(sums), loop);
    }
    product.instructions.push_back(copy.number);
    return same_access(sums, rows.sums);
  }

  // Results are written while operands are still read.
  bool overlaps(const Product& product) const {
    return may_share_memory(program_, product.out.buffer, product.stationary.buffer) ||
           may_share_memory(program_, product.out.buffer, product.moving.buffer);
  }

  const Program& program_;
  const std::vector<int32_t>& uses_;
};

// Every thread packs the side that is not cut: the smaller one. Lengths that kernels of all instruction sets divide.
constexpr int64_t kPieceRows = 12;
constexpr int64_t kPieceColumns = 64;

bool cuts_columns(int64_t m, int64_t n) { return n >= m; }

// Keeps the pieces [first, first + count).
void keep_pieces(ChainProblem& problem, int64_t first, int64_t count, int64_t moving_item, int64_t stationary_item) {
  if (cuts_columns(problem.m, problem.n)) {
    const int64_t begin = first * kPieceColumns;
    problem.moving += begin * problem.moving_n * moving_item;
    problem.out += begin * problem.out_n;
    problem.n = std::min(count * kPieceColumns, problem.n - begin);
    return;
  }
  const int64_t begin = first * kPieceRows;
  problem.stationary += begin * problem.stationary_m * stationary_item;
  problem.out += begin * problem.out_m;
  problem.m = std::min(count * kPieceRows, problem.m - begin);
}

int64_t step_of(const Operand& operand) { return operand.free.empty() ? operand.item() : operand.free[0].step; }

}  // namespace

std::optional<Product> find_product(const Program& program, const std::vector<int32_t>& uses,
                                    std::span<const Statement> statements) {
  return Finder(program, uses).find(statements);
}

int64_t product_pieces(const ProductOperands& operands) {
  const int64_t m = operands.stationary.free_elements();
  const int64_t n = operands.moving.free_elements();
  if (m == 0 || n == 0) return 1;
  return cuts_columns(m, n) ? (n - 1) / kPieceColumns + 1 : (m - 1) / kPieceRows + 1;
}

Kernel prepare_product(const ProductOperands& operands, int64_t chunk) {
  const Operand& stationary = operands.stationary;
  const Operand& moving = operands.moving;
  ChainProblem problem{.k = stationary.partitions, .m = stationary.free_elements(), .n = moving.free_elements()};
  problem.chunk = std::min(chunk, problem.k);
  problem.stationary_k = stationary.partition_step / stationary.item();
  problem.stationary_m = step_of(stationary) / stationary.item();
  problem.moving_k = moving.partition_step / moving.item();
  problem.moving_n = step_of(moving) / moving.item();
  problem.store = kernels().store(ComputeType::F32, operands.out.dtype);
  problem.out_m = operands.out.partition_step;
  problem.out_n = step_of(operands.out);
  const ChainKernel kernel = kernels().chain(stationary.dtype);
  return [operands = std::make_shared<const ProductOperands>(operands), problem, kernel](const Frame& frame) {
    ChainProblem here = problem;
    Frame whole = frame;
    whole.first = 0;
    here.stationary = operands->stationary.at(whole);
    here.moving = operands->moving.at(whole);
    here.out = operands->out.at(whole);
    keep_pieces(here, frame.first, frame.count, operands->moving.item(), operands->stationary.item());
    kernel(here);
  };
}

}  // namespace opentrn::neuroncore::emulator

// Element-wise instructions: a pipeline over the nest of their operands. Short rows are gathered until a chunk is full,
// so that operations run on long vectors whatever the pattern.
#include <algorithm>
#include <memory>

#include "neuroncore/emulator/instructions/pipeline.h"

namespace opentrn::neuroncore::emulator {

namespace {

struct Elementwise {
  Pipeline pipeline;
  Operand out;
  std::vector<Operand> tiles;
  Nest nest;
  bool by_row = false;  // elements of `out` repeat: each row is finished before the next is read

  size_t operands() const { return tiles.size() + 1; }
};

constexpr int64_t kLongRow = 128;

// `n` elements of the innermost dimension, any number.
void run_row(const Elementwise& work, ChunkMemory& memory, int64_t n, Addresses addresses, const Addresses& steps) {
  const Pipeline& pipeline = work.pipeline;
  const bool direct = pipeline.store == nullptr && (steps[0] == pipeline.out_item || n == 1);
  for (int64_t done = 0; done < n;) {
    const int64_t count = std::min(pipeline.chunk, n - done);
    std::byte* out = pointer(addresses[0]);
    std::byte* to = direct ? out : memory.out.data();
    const std::byte* values = compute_chunk(pipeline, memory, count, addresses, steps, to);
    if (pipeline.store != nullptr) {
      pipeline.store(count, out, steps[0], values);
    } else if (values != out) {
      pipeline.copy(1, count, out, 0, steps[0], values, 0, pipeline.item);
    }
    done += count;
    advance(addresses, steps, count);
  }
}

// Rows are joined: operands that do not step evenly from row to row are laid out densely first.
class JoinedRows {
 public:
  JoinedRows(const Elementwise& work, ChunkMemory& memory, ChunkMemory& joined)
      : work_(work), memory_(memory), joined_(joined) {}

  void run(int64_t rows, int64_t columns, Addresses addresses) {
    const Addresses& row_steps = work_.nest.dimensions[1].steps;
    const int64_t at_once = std::max<int64_t>(1, work_.pipeline.chunk / columns);
    for (int64_t row = 0; row < rows;) {
      const int64_t count = std::min(at_once, rows - row);
      run_joined(count, columns, addresses);
      row += count;
      advance(addresses, row_steps, count);
    }
  }

 private:
  void run_joined(int64_t rows, int64_t columns, const Addresses& addresses) {
    const Pipeline& pipeline = work_.pipeline;
    const Addresses& row = work_.nest.dimensions[1].steps;
    const Addresses& column = work_.nest.dimensions[0].steps;
    Addresses joined = addresses;
    Addresses steps = column;
    for (size_t i = 1; i < work_.operands(); ++i) {
      if (row[i] == column[i] * columns) continue;
      const int64_t item = pipeline.tiles[i - 1].item;
      std::byte* to = joined_.tiles[i - 1].data();
      pipeline.tiles[i - 1].copy(rows, columns, to, columns * item, item, pointer(addresses[i]), row[i], column[i]);
      joined[i] = address(to);
      steps[i] = item;
    }
    const int64_t n = rows * columns;
    if (row[0] == column[0] * columns) return run_row(work_, memory_, n, joined, steps);
    std::byte* out = pointer(addresses[0]);
    std::byte* to = joined_.out.data();
    const std::byte* values = compute_chunk(pipeline, memory_, n, joined, steps, to);
    if (pipeline.store == nullptr) {
      return pipeline.copy(rows, columns, out, row[0], column[0], values, columns * pipeline.item, pipeline.item);
    }
    for (int64_t r = 0; r < rows; ++r) {
      pipeline.store(columns, out + r * row[0], column[0], values + r * columns * pipeline.item);
    }
  }

  const Elementwise& work_;
  ChunkMemory& memory_;
  ChunkMemory& joined_;
};

// One operation on memory that is dense, or one element repeated, and of the compute type: rows of any length, at once.
struct DirectOperation {
  const Operation* operation = nullptr;  // null: the work is not of this kind
  std::array<size_t, 2> operand{};       // of the nest; 0: an immediate
  std::array<int64_t, 2> step{1, 1};
  std::array<const std::byte*, 2> number{};
};

DirectOperation direct_operation(const Elementwise& work) {
  const Pipeline& pipeline = work.pipeline;
  const Addresses& steps = work.nest.dimensions[0].steps;
  if (pipeline.operations.size() != 1 || pipeline.store != nullptr || work.by_row || steps[0] != pipeline.item)
    return {};
  const Operation& operation = pipeline.operations[0];
  DirectOperation direct{.operation = &operation};
  const size_t count = operation.binary != nullptr ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    const size_t value = i == 0 ? operation.a : operation.b;
    if (value >= kFirstImmediate) {
      direct.step[i] = 0;
      direct.number[i] = pipeline.immediates[value - kFirstImmediate].data();
      continue;
    }
    const Pipeline::Tile& tile = pipeline.tiles[value];
    const int64_t step = steps[value + 1];
    if (tile.load != nullptr || (step != 0 && step != tile.item)) return {};
    direct.operand[i] = value + 1;
    direct.step[i] = step == 0 ? 0 : 1;
  }
  if (count == 1 && direct.step[0] == 0) return {};
  return direct;
}

void run_direct(const DirectOperation& direct, int64_t rows, int64_t columns, Addresses at,
                const Addresses& row_steps) {
  const auto place = [&](size_t i) {
    return direct.operand[i] == 0 ? direct.number[i] : pointer(at[direct.operand[i]]);
  };
  const Operation& operation = *direct.operation;
  for (int64_t row = 0; row < rows; ++row) {
    if (operation.binary != nullptr) {
      operation.binary(columns, pointer(at[0]), place(0), direct.step[0], place(1), direct.step[1]);
    } else {
      operation.unary(columns, pointer(at[0]), place(0));
    }
    advance(at, row_steps, 1);
  }
}

void run(const Elementwise& work, const Frame& frame) {
  ChunkMemory memory;
  Addresses addresses{address(work.out.at(frame))};
  for (size_t i = 0; i < work.tiles.size(); ++i) addresses[i + 1] = address(work.tiles[i].at(frame));
  const Addresses& row_steps = work.nest.dimensions[1].steps;
  const Addresses& steps = work.nest.dimensions[0].steps;
  const DirectOperation direct = direct_operation(work);
  for_each_plane(work.nest, frame, addresses, [&](int64_t rows, int64_t columns, Addresses at) {
    if (direct.operation != nullptr && (rows == 1 || columns >= kLongRow)) {
      return run_direct(direct, rows, columns, at, row_steps);
    }
    if (rows > 1 && columns < kLongRow && !work.by_row) {
      ChunkMemory joined;
      return JoinedRows(work, memory, joined).run(rows, columns, at);
    }
    for (int64_t row = 0; row < rows; ++row) {
      run_row(work, memory, columns, at, steps);
      advance(at, row_steps, 1);
    }
  });
}

bool repeats(const Operand& operand) {
  const auto repeated = [](const Dimension& dimension) { return dimension.step == 0 && dimension.size > 1; };
  return std::any_of(operand.free.begin(), operand.free.end(), repeated) ||
         (operand.partition_step == 0 && operand.partitions > 1);
}

}  // namespace

Kernel kernel_of(PipelinePlan plan, const Operand& out, bool whole, bool accumulates) {
  auto work = std::make_shared<Elementwise>();
  work->pipeline = std::move(plan.pipeline);
  work->out = out;
  work->tiles = std::move(plan.tiles);
  work->by_row = accumulates && repeats(work->out);
  std::array<const Operand*, kMaxOperands> operands{&work->out};
  for (size_t i = 0; i < work->tiles.size(); ++i) operands[i + 1] = &work->tiles[i];
  auto nest = make_nest(std::span(operands).first(work->operands()), {.whole = whole, .repeats = work->by_row});
  if (!nest) return {};
  work->nest = std::move(*nest);
  return [work](const Frame& frame) { run(*work, frame); };
}

Kernel prepare_elementwise(const Request& request) {
  return kernel_of(plan_pipeline(request), request.outputs[0], request.whole, request.instruction.accumulate);
}

}  // namespace opentrn::neuroncore::emulator

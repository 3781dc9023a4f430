// While, if and case.
#include <algorithm>

#include "engines/reference/copy.h"
#include "engines/reference/region_function.h"

namespace opentrn::engines::reference {

namespace {

/// The values a loop carries, each row by row, one after the other.
struct State {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;

  explicit State(std::span<const View> carried) {
    for (const View& view : carried) {
      offsets.push_back(bytes);
      bytes += aligned(view.elements() * view.item_size());
    }
  }
};

struct WhileLoop {
  RegionFunction condition, body;
  State state;
  std::vector<StridedCopy> enter, leave;
  size_t captured = 0;

  void run(std::byte* const* operands, std::byte* const* results) const {
    const size_t carried = state.offsets.size();
    const Workspace space(std::max<int64_t>(1, 2 * state.bytes));
    std::vector<const void*> parameters(carried);
    parameters.insert(parameters.end(), operands + carried, operands + carried + captured);
    std::vector<void*> next(carried);
    std::byte* now = space.data();
    std::byte* then = space.data() + state.bytes;
    for (size_t i = 0; i < carried; ++i) enter[i](operands[i], now + state.offsets[i]);
    for (;;) {
      for (size_t i = 0; i < carried; ++i) {
        parameters[i] = now + state.offsets[i];
        next[i] = then + state.offsets[i];
      }
      bool again = false;
      void* const answer[] = {&again};
      condition(parameters, answer);
      if (!again) break;
      body(parameters, next);
      std::swap(now, then);
      check_interrupt();
    }
    for (size_t i = 0; i < carried; ++i) leave[i](now + state.offsets[i], results[i]);
  }
};

}  // namespace

Kernel while_kernel(const Problem& problem) {
  const auto& attributes = problem.node.as<ir::WhileAttributes>();
  const size_t carried = problem.results.size();
  const std::span<const View> captured = problem.operands.subspan(carried);
  WhileLoop loop{RegionFunction(attributes.condition, captured),
                 RegionFunction(attributes.body, captured),
                 State(problem.results),
                 {},
                 {},
                 captured.size()};
  for (size_t i = 0; i < carried; ++i) {
    const View rows = ir::contiguous_view({problem.results[i].dtype, problem.results[i].shape});
    loop.enter.emplace_back(problem.operands[i], rows);
    loop.leave.emplace_back(rows, problem.results[i]);
  }
  return [loop](std::byte* const* operands, std::byte* const* results) { loop.run(operands, results); };
}

Kernel branch_kernel(const Problem& problem) {
  std::vector<RegionFunction> branches;
  for (const ir::Region& branch : problem.node.as<ir::BranchAttributes>().branches) {
    branches.emplace_back(branch, problem.operands.subspan(1), problem.results);
  }
  const bool is_if = problem.node.op == ir::Op::If;
  const size_t captured = problem.operands.size() - 1;
  const size_t count = problem.results.size();
  return [=](std::byte* const* operands, std::byte* const* results) {
    const auto last = static_cast<int64_t>(branches.size()) - 1;
    int64_t chosen = *operands[0] != std::byte{0} ? 0 : 1;
    if (!is_if) chosen = read_integer(operands[0], DType::I32);
    if (chosen < 0 || chosen > last) chosen = last;
    const std::vector<const void*> parameters(operands + 1, operands + 1 + captured);
    const std::vector<void*> places(results, results + count);
    branches[static_cast<size_t>(chosen)](parameters, places);
  };
}

}  // namespace opentrn::engines::reference

// Runs a plan: walks the tree of loops, splits independent ones and the partitions of large strips over threads.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/thread_pool.h"
#include "base/workspace.h"
#include "neuroncore/emulator/plan.h"

namespace opentrn::neuroncore::emulator {

namespace {

/// An array on the stack, or on the heap when it does not fit. Uninitialised.
template <typename T, size_t inline_size>
class Table {
 public:
  explicit Table(size_t size) : size_(size) {
    if (size <= inline_size) return;
    heap_.reset(new T[size]);
    data_ = heap_.get();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void copy_from(const T* other) { std::copy_n(other, size_, data_); }
  void fill(T value) { std::fill_n(data_, size_, value); }
  T& operator[](size_t i) { return data_[i]; }
  T* data() { return data_; }

 private:
  size_t size_;
  std::array<T, inline_size> stack_;
  std::unique_ptr<T[]> heap_;
  T* data_ = stack_.data();
};

using Bases = Table<std::byte*, 32>;
using Counters = Table<int64_t, 16>;

class Runner {
 public:
  Runner(const Plan& plan, std::byte** bases, int64_t* counters, bool may_split)
      : plan_(plan), bases_(bases), counters_(counters), may_split_(may_split) {}

  void run(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (node.loop >= 0) {
        run_loop(node.loop);
      } else {
        run_group(plan_.group(node.group));
      }
    }
  }

  // NaN for floating point numbers, a pattern for integers.
  void poison(int32_t buffer) {
    const auto id = static_cast<size_t>(buffer);
    const int pattern = is_integral(plan_.program().buffers[id].dtype) ? 0x5A : 0xFF;
    const int64_t bytes = plan_.homes()[id].bytes;
    if (bytes > 0) std::memset(bases_[id], pattern, static_cast<size_t>(bytes));
  }

 private:
  void run_loop(int32_t id) {
    const LoopPlan& loop = plan_.loop(id);
    if (may_split_ && loop.independent && loop.work * loop.count >= kParallelWork) return split_loop(id);
    run_iterations(id, 0, loop.count);
  }

  void run_iterations(int32_t id, int64_t begin, int64_t end) {
    const LoopPlan& loop = plan_.loop(id);
    for (int64_t i = begin; i < end; ++i) {
      counters_[id] = i;
      if (plan_.options().check)
        std::for_each(loop.own_buffers.begin(), loop.own_buffers.end(), [&](int32_t buffer) { poison(buffer); });
      run(loop.body);
      if (may_split_) check_interrupt();
    }
  }

  // Loops right inside each other are split as one. One that has too few iterations to go round is not split itself:
  // what it holds may be.
  void split_loop(int32_t id) {
    std::array<int32_t, 8> loops{id};
    size_t depth = 1;
    int64_t count = plan_.loop(id).count;
    for (const LoopPlan* loop = &plan_.loop(id); depth < loops.size(); ++depth) {
      if (loop->body.size() != 1 || loop->body[0].loop < 0) break;
      const LoopPlan& inner = plan_.loop(loop->body[0].loop);
      if (!inner.independent || count >= 4 * thread_count()) break;
      loops[depth] = loop->body[0].loop;
      count *= inner.count;
      loop = &inner;
    }
    if (count < 2) return run_iterations(id, 0, count);
    const std::span<const int32_t> nest(loops.data(), depth);
    const int64_t work = std::max<int64_t>(1, plan_.loop(nest.back()).work);
    const int64_t grain = std::max<int64_t>(1, kParallelWork / 2 / work);
    parallel_for(0, count, grain, [&](int64_t begin, int64_t end) { run_part(nest, begin, end); });
  }

  // Iterations [begin, end) of a nest of loops, with tiles and counters of this thread.
  void run_part(std::span<const int32_t> nest, int64_t begin, int64_t end) {
    const LoopPlan& outer = plan_.loop(nest.front());
    Counters counters(plan_.counters());
    counters.copy_from(counters_);
    Bases bases(plan_.homes().size());
    const Workspace memory(outer.memory_end - outer.memory_begin);
    for (const int32_t buffer : outer.used_buffers) {
      const auto id = static_cast<size_t>(buffer);
      const Home& home = plan_.homes()[id];
      const bool own =
          home.kind == Home::Kind::Tile && home.offset >= outer.memory_begin && home.offset < outer.memory_end;
      bases[id] = own ? memory.data() + (home.offset - outer.memory_begin) : bases_[id];
    }
    Runner runner(plan_, bases.data(), counters.data(), false);
    if (nest.size() == 1) return runner.run_iterations(nest[0], begin, end);
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i;
      for (size_t level = nest.size(); level-- > 0;) {
        const int64_t count = plan_.loop(nest[level]).count;
        counters[static_cast<size_t>(nest[level])] = rest % count;
        rest /= count;
      }
      runner.run(plan_.loop(nest.back()).body);
    }
  }

  void run_group(const Group& group) {
    const Variant& variant = plan_.variant(group, counters_);
    for (size_t i = 0; i < variant.strips.size(); ++i) {
      const Strip& strip = variant.strips[i];
      if (plan_.options().check) check_bounds(plan_.program(), group.shapes[i].instructions[0], counters_);
      if (may_split_ && strip.splits && group.product) {
        split_product(strip);
      } else if (may_split_ && strip.splits) {
        split_strip(strip, group.shapes[i]);
      } else {
        run_blocks(strip, bases_, 0, strip.partitions);
      }
    }
  }

  void run_blocks(const Strip& strip, std::byte* const* bases, int64_t begin, int64_t end) {
    Frame frame{.bases = bases, .counters = counters_, .first = begin, .count = end - begin};
    if (strip.block >= end - begin) {
      for (const Kernel& kernel : strip.kernels) kernel(frame);
      return;
    }
    for (int64_t first = begin; first < end; first += strip.block) {
      frame.first = first;
      frame.count = std::min(strip.block, end - first);
      for (const Kernel& kernel : strip.kernels) kernel(frame);
    }
  }

  // One part for each thread, which packs its operands. There are no tiles.
  void split_product(const Strip& strip) {
    const int64_t grain = (strip.partitions - 1) / thread_count() + 1;
    parallel_for(0, strip.partitions, grain,
                 [&](int64_t begin, int64_t end) { run_blocks(strip, bases_, begin, end); });
  }

  // Every thread has its own memory for the tiles of a block.
  void split_strip(const Strip& strip, const StripShape& shape) {
    int64_t bytes = 0;
    std::vector<int64_t> offsets;
    for (const int32_t buffer : shape.local_buffers) {
      const int64_t size = plan_.homes()[static_cast<size_t>(buffer)].bytes;
      offsets.push_back(array_offset(bytes, size));
      bytes = offsets.back() + aligned(size);
    }
    const int64_t grain = std::max<int64_t>(1, strip.partitions / (4 * int64_t{thread_count()}));
    parallel_for(0, strip.partitions, grain, [&](int64_t begin, int64_t end) {
      Bases bases(plan_.homes().size());
      for (const int32_t buffer : shape.used_buffers) bases[static_cast<size_t>(buffer)] = bases_[buffer];
      const Workspace memory(bytes);
      for (size_t i = 0; i < offsets.size(); ++i) {
        bases[static_cast<size_t>(shape.local_buffers[i])] = memory.data() + offsets[i];
      }
      run_blocks(strip, bases.data(), begin, end);
    });
  }

  const Plan& plan_;
  std::byte** bases_;
  int64_t* counters_;
  bool may_split_;
};

[[noreturn]] void raise_wrong_count(const Plan& plan, size_t parameters, size_t results) {
  raise(ErrorKind::Internal, {.where = "emulator",
                              .what = "wrong number of addresses",
                              .got = concat(parameters, " parameters and ", results, " results"),
                              .expected = concat(plan.parameters(), " and ", plan.results())});
}

void run_with_scratch(const Plan& plan, std::byte* scratch, std::span<const void* const> parameters,
                      std::span<void* const> results) {
  const std::vector<Home>& homes = plan.homes();
  Bases bases(homes.size());
  for (size_t i = 0; i < homes.size(); ++i) {
    const auto index = static_cast<size_t>(homes[i].index);
    switch (homes[i].kind) {
      // Kernels take all addresses alike; none writes to a parameter that is not also a result.
      case Home::Kind::Parameter: bases[i] = static_cast<std::byte*>(const_cast<void*>(parameters[index])); break;
      case Home::Kind::Result: bases[i] = static_cast<std::byte*>(results[index]); break;
      case Home::Kind::Constant: bases[i] = const_cast<std::byte*>(plan.constants()[index].data()); break;
      default: bases[i] = scratch + homes[i].offset; break;
    }
  }
  Counters counters(plan.counters());
  counters.fill(0);
  Runner runner(plan, bases.data(), counters.data(), plan.options().parallel);
  if (plan.options().check) {
    for (size_t i = 0; i < homes.size(); ++i) {
      if (homes[i].kind == Home::Kind::Hbm || homes[i].kind == Home::Kind::Tile) runner.poison(static_cast<int32_t>(i));
    }
  }
  runner.run(plan.body());
}

}  // namespace

void execute(const Plan& plan, std::span<const void* const> parameters, std::span<void* const> results) {
  if (parameters.size() < plan.parameters() || results.size() < plan.results())
    raise_wrong_count(plan, parameters.size(), results.size());
  if (plan.scratch_bytes() == 0) return run_with_scratch(plan, nullptr, parameters, results);
  const Workspace scratch(plan.scratch_bytes());
  run_with_scratch(plan, scratch.data(), parameters, results);
}

}  // namespace opentrn::neuroncore::emulator

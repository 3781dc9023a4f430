#include "neuroncore/emulator/plan.h"

#include <algorithm>
#include <utility>

namespace opentrn::neuroncore::emulator {

namespace {

constexpr int64_t kProductsInAStep = 8;  // of a vector, for deciding on threads

Shortened as_it_is(const Program& program) { return {.program = without_constants(program), .assumptions = {}}; }

// Of one operand, from the start of the block to its end.
int64_t bytes_of_block(const Buffer& buffer, int64_t partition, int64_t block) {
  return (partition + block) * buffer.elements * size_of(buffer.dtype);
}

// By request: the kernel of it and the next, if the two are an inner product.
std::vector<Kernel> dots_of(std::span<const Request> requests, const StripValues& values) {
  std::vector<Kernel> dots(requests.size());
  for (size_t i = 0; i + 1 < requests.size(); ++i) {
    if (is_element_wise(requests[i]) && values.is_dead(i, i + 2)) dots[i] = prepare_dot(requests[i], requests[i + 1]);
  }
  return dots;
}

Chain chain_at(std::span<const Request> requests, size_t first, std::span<const Kernel> dots,
               const StripValues& values) {
  size_t end = first;
  while (end < requests.size() && !dots[end]) ++end;
  return prepare_chain(requests, first, end, values);
}

}  // namespace

Plan::Plan(const Program& program, const PlanOptions& options)
    : shortened_(options.optimise ? without_copies(program) : as_it_is(program)),
      constants_(program.constants),
      options_(options),
      uses_(program.buffers.size(), 0),
      loops_(program.loops.size()),
      block_bytes_(program.buffers.size(), 0) {
  const auto use = [&](const Access& access) { ++uses_[static_cast<size_t>(access.buffer)]; };
  for (const Instruction& instruction : shortened_.program.instructions) {
    std::for_each(instruction.outputs.begin(), instruction.outputs.end(), use);
    std::for_each(instruction.inputs.begin(), instruction.inputs.end(), use);
  }
  for (size_t i = 0; i < loops_.size(); ++i) {
    loops_[i].count = program.loops[i].count;
    loops_[i].independent = program.loops[i].independent;
  }
  body_ = add_body(shortened_.program.body);
  place();
  if (options_.optimise) note_assumptions();
}

Plan::~Plan() = default;

std::vector<Node> Plan::add_body(const std::vector<Statement>& body) {
  std::vector<Node> nodes;
  std::vector<int32_t> run;
  const auto close_run = [&] {
    if (!run.empty()) nodes.push_back({.loop = -1, .group = add_group(std::exchange(run, {}))});
  };
  for (size_t i = 0; i < body.size(); ++i) {
    const Statement& statement = body[i];
    if (options_.optimise) {
      if (auto product = find_product(program(), uses_, std::span(body).subspan(i))) {
        close_run();
        i += product->statements - 1;
        nodes.push_back({.loop = -1, .group = add_product(std::move(*product))});
        continue;
      }
    }
    if (statement.loop < 0) {
      run.push_back(statement.instruction);
      continue;
    }
    close_run();
    const auto id = static_cast<size_t>(statement.loop);
    std::vector<Node> inner = add_body(program().loops[id].body);
    if (inner.empty() || loops_[id].count <= 0) continue;
    loops_[id].work = work_of(inner);
    loops_[id].used_buffers = buffers_of(inner);
    loops_[id].body = std::move(inner);
    nodes.push_back({.loop = statement.loop, .group = -1});
  }
  close_run();
  return nodes;
}

int64_t Plan::work_of(const std::vector<Node>& nodes) const {
  int64_t work = 0;
  for (const Node& node : nodes) {
    if (node.loop >= 0) {
      work += loop(node.loop).work * loop(node.loop).count;
      continue;
    }
    for (const int64_t strip : group(node.group).work) work += strip;
  }
  return work;
}

std::vector<int32_t> Plan::buffers_of(const std::vector<Node>& nodes) const {
  std::vector<int32_t> buffers;
  const auto add = [&](const std::vector<int32_t>& more) { buffers.insert(buffers.end(), more.begin(), more.end()); };
  for (const Node& node : nodes) {
    if (node.loop >= 0) {
      add(loop(node.loop).used_buffers);
      continue;
    }
    for (const StripShape& shape : group(node.group).shapes) add(shape.used_buffers);
  }
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  return buffers;
}

void Plan::note_tails(Group& group, const Access& access) const {
  for (const PatternDimension& dimension : access.pattern) {
    if (dimension.tail_loop < 0 || dimension.tail == dimension.size) continue;
    if (program().loops[static_cast<size_t>(dimension.tail_loop)].count == 1) continue;  // always the last iteration
    if (std::count(group.tail_loops.begin(), group.tail_loops.end(), dimension.tail_loop) == 0)
      group.tail_loops.push_back(dimension.tail_loop);
  }
}

void Plan::note_tails(Group& group, const Instruction& instruction) const {
  const auto look = [&](const Access& access) { note_tails(group, access); };
  std::for_each(instruction.outputs.begin(), instruction.outputs.end(), look);
  std::for_each(instruction.inputs.begin(), instruction.inputs.end(), look);
}

int32_t Plan::add_group(const std::vector<int32_t>& instructions) {
  auto group = std::make_unique<Group>();
  const StripCutter cutter(program(), uses_);
  if (options_.optimise) {
    group->shapes = cutter.cut(instructions);
  } else {
    for (const int32_t number : instructions) {
      StripShape shape = cutter.cut(std::span(&number, 1)).front();
      shape.local_buffers.clear();
      group->shapes.push_back(std::move(shape));
    }
  }
  for (const StripShape& shape : group->shapes) {
    int64_t work = 0;
    for (const int32_t number : shape.instructions) {
      const Instruction& instruction = program().instructions[static_cast<size_t>(number)];
      work += touched_elements(instruction);
      note_tails(*group, instruction);
    }
    group->work.push_back(work);
    for (const int32_t buffer : shape.local_buffers) {
      const Buffer& tile = program().buffers[static_cast<size_t>(buffer)];
      int64_t& bytes = block_bytes_[static_cast<size_t>(buffer)];
      bytes = bytes_of_block(tile, tile.partitions - shape.partitions, shape.block);
    }
  }
  return add(std::move(group));
}

int32_t Plan::add(std::unique_ptr<Group> group) {
  group->variants = std::vector<std::atomic<const Variant*>>(size_t{1} << group->tail_loops.size());
  groups_.push_back(std::move(group));
  return static_cast<int32_t>(groups_.size()) - 1;
}

int32_t Plan::add_product(Product product) {
  auto group = std::make_unique<Group>();
  StripShape& shape = group->shapes.emplace_back();
  shape.instructions = product.instructions;
  for (const Access* access : {&product.stationary, &product.moving, &product.out}) {
    shape.used_buffers.push_back(access->buffer);
    note_tails(*group, *access);
  }
  group->work.push_back(product.multiplications / kProductsInAStep);
  group->product = std::move(product);
  return add(std::move(group));
}

void Plan::place() {
  Placement placement = place_buffers(program(), block_bytes_, !options_.check, loops_);
  homes_ = std::move(placement.homes);
  scratch_bytes_ = placement.scratch_bytes;
  for (const Home& home : homes_) {
    const auto needed = static_cast<size_t>(home.index) + 1;
    if (home.kind == Home::Kind::Parameter) parameters_ = std::max(parameters_, needed);
    if (home.kind == Home::Kind::Result) results_ = std::max(results_, needed);
  }
}

// Blocks of partitions, chains and whole products write results before later ones read parameters. Outside of loops the
// program only promises that it reads before it writes.
void Plan::note_assumptions() {
  const auto note = [&](const Buffer& parameter, const Buffer& result) {
    const auto shared = [&](const SharedMemory& pair) {
      return pair.parameter == parameter.index && pair.result == result.index;
    };
    if (std::any_of(program().shared.begin(), program().shared.end(), shared)) return;
    const Assumption assumption{parameter.index, result.index};
    std::vector<Assumption>& known = shortened_.assumptions;
    if (std::find(known.begin(), known.end(), assumption) == known.end()) known.push_back(assumption);
  };
  for (const Node& node : body_) {
    if (node.group < 0) continue;
    for (const StripShape& shape : group(node.group).shapes) {
      const bool in_pieces = shape.by_partition && (shape.partitions > 1 || shape.instructions.size() > 1);
      if (!in_pieces && !group(node.group).product) continue;
      for (const int32_t read : shape.used_buffers) {
        const Buffer& parameter = program().buffers[static_cast<size_t>(read)];
        if (parameter.space != Space::Hbm || parameter.role != Role::Parameter) continue;
        for (const int32_t written : shape.used_buffers) {
          const Buffer& result = program().buffers[static_cast<size_t>(written)];
          if (result.space == Space::Hbm && result.role == Role::Result) note(parameter, result);
        }
      }
    }
  }
}

const Variant& Plan::variant(const Group& group, const int64_t* counters) const {
  size_t number = 0;
  for (size_t i = 0; i < group.tail_loops.size(); ++i) {
    const auto id = static_cast<size_t>(group.tail_loops[i]);
    if (counters[id] == loops_[id].count - 1) number |= size_t{1} << i;
  }
  const Variant* known = group.variants[number].load(std::memory_order_acquire);
  return known != nullptr ? *known : make_variant(group, number);
}

const Variant& Plan::make_variant(const Group& group, size_t number) const {
  const std::lock_guard lock(preparing_);
  if (const Variant* known = group.variants[number].load(std::memory_order_acquire)) return *known;
  prepared_.push_back(std::make_unique<const Variant>(prepare_variant(group, number)));
  group.variants[number].store(prepared_.back().get(), std::memory_order_release);
  return *prepared_.back();
}

Variant Plan::prepare_variant(const Group& group, size_t number) const {
  std::vector<uint8_t> last(loops_.size(), 0);
  for (size_t i = 0; i < last.size(); ++i) last[i] = loops_[i].count == 1 ? 1 : 0;
  for (size_t i = 0; i < group.tail_loops.size(); ++i) {
    if ((number >> i & 1) != 0) last[static_cast<size_t>(group.tail_loops[i])] = 1;
  }
  Variant variant;
  if (group.product) {
    variant.strips.push_back(prepare_whole(*group.product, group.work[0], last));
    return variant;
  }
  for (size_t i = 0; i < group.shapes.size(); ++i) {
    variant.strips.push_back(prepare_strip(group.shapes[i], group.work[i], last));
  }
  return variant;
}

Operand Plan::operand_of(const Access& access, const std::vector<uint8_t>& last) const {
  Operand operand = resolve(program(), access, last);
  if (block_bytes_[static_cast<size_t>(access.buffer)] > 0) operand.partition_advance = 0;
  return operand;
}

Strip Plan::prepare_whole(const Product& product, int64_t work, const std::vector<uint8_t>& last) const {
  const ProductOperands operands{operand_of(product.stationary, last), operand_of(product.moving, last),
                                 operand_of(product.out, last)};
  Strip strip;
  strip.partitions = strip.block = product_pieces(operands);
  strip.splits = options_.parallel && strip.partitions > 1 && work >= 2 * kParallelWork;
  strip.kernels.push_back(prepare_product(operands, product.chunk));
  return strip;
}

Strip Plan::prepare_strip(const StripShape& shape, int64_t work, const std::vector<uint8_t>& last) const {
  Strip strip;
  strip.block = std::max<int64_t>(shape.block, 1);
  strip.splits = options_.parallel && shape.by_partition && shape.partitions > 1 && work >= 2 * kParallelWork;
  const bool whole = !strip.splits && shape.block == shape.partitions;
  std::vector<Request> requests;
  for (const int32_t number : shape.instructions) requests.push_back(request_of(number, last, whole));
  const StripValues values(requests, shape.local_buffers);
  const std::vector<Kernel> dots = dots_of(requests, values);
  for (size_t i = 0; i < requests.size();) {
    if (!requests[i].outputs.empty()) strip.partitions = requests[i].outputs[0].partitions;
    if (dots[i]) {
      strip.kernels.push_back(dots[i]);
      i += 2;
    } else if (Chain chain = chain_at(requests, i, dots, values); chain.kernel) {
      strip.kernels.push_back(std::move(chain.kernel));
      i += chain.instructions;
    } else {
      strip.kernels.push_back(prepare(std::move(requests[i++])));
    }
  }
  return strip;
}

Request Plan::request_of(int32_t number, const std::vector<uint8_t>& last, bool whole) const {
  const Instruction& instruction = program().instructions[static_cast<size_t>(number)];
  Request request{
      .program = program(), .instruction = instruction, .number = number, .outputs = {}, .inputs = {}, .whole = whole};
  for (const Access& access : instruction.outputs) request.outputs.push_back(operand_of(access, last));
  for (const Access& access : instruction.inputs) request.inputs.push_back(operand_of(access, last));
  return request;
}

}  // namespace opentrn::neuroncore::emulator

#include "neuroncore/emulator.h"

#include <mutex>
#include <utility>
#include <vector>

#include "neuroncore/emulator/plan.h"

namespace opentrn::neuroncore {

namespace {

using emulator::PlanOptions;

PlanOptions plan_options(const EmulatorOptions& options) {
  if (options.check) return {.check = true, .optimise = false, .parallel = false};
  return {.check = false, .optimise = options.macros, .parallel = true};
}

struct Range {
  const std::byte* begin;
  const std::byte* end;
};

bool overlap(const Range& left, const Range& right) { return left.begin < right.end && right.begin < left.end; }

}  // namespace

struct Emulator::Plan {
  Plan(Program made, EmulatorOptions options) : program(std::move(made)), plan(program, plan_options(options)) {
    for (const Buffer& buffer : program.buffers) {
      if (buffer.space != Space::Hbm) continue;
      if (buffer.role == Role::Parameter) note(parameter_bytes, buffer);
      if (buffer.role == Role::Result) note(result_bytes, buffer);
    }
  }

  static void note(std::vector<int64_t>& bytes, const Buffer& buffer) {
    const auto index = static_cast<size_t>(buffer.index);
    if (bytes.size() <= index) bytes.resize(index + 1, 0);
    bytes[index] = buffer.elements * size_of(buffer.dtype);
  }

  /// Whether the memory of this call is what the plan took for granted.
  bool fits(std::span<const void* const> parameters, std::span<void* const> results) const {
    const auto range = [](const void* address, int64_t bytes) {
      const auto* begin = static_cast<const std::byte*>(address);
      return Range{begin, begin + bytes};
    };
    for (const emulator::Assumption& assumption : plan.assumptions()) {
      const auto parameter = static_cast<size_t>(assumption.parameter);
      const auto result = static_cast<size_t>(assumption.result);
      if (overlap(range(parameters[parameter], parameter_bytes[parameter]),
                  range(results[result], result_bytes[result])))
        return false;
    }
    return true;
  }

  /// One instruction after the other, for calls whose memory overlaps in unusual ways.
  const emulator::Plan& plain() const {
    std::call_once(plain_once, [&] { plain_plan = std::make_unique<emulator::Plan>(program, PlanOptions{}); });
    return *plain_plan;
  }

  Program program;
  emulator::Plan plan;
  std::vector<int64_t> parameter_bytes, result_bytes;
  mutable std::once_flag plain_once;
  mutable std::unique_ptr<emulator::Plan> plain_plan;
};

Emulator::Emulator(Program program, const Machine&, EmulatorOptions options)
    : plan_(std::make_unique<Plan>(std::move(program), options)) {}

Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

void Emulator::run(std::span<const void* const> parameters, std::span<void* const> results) const {
  const bool complete = parameters.size() >= plan_->plan.parameters() && results.size() >= plan_->plan.results();
  const bool as_planned = !complete || plan_->fits(parameters, results);
  emulator::execute(as_planned ? plan_->plan : plan_->plain(), parameters, results);
}

const Program& Emulator::program() const { return plan_->program; }

}  // namespace opentrn::neuroncore

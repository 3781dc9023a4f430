// Runs a program: resolves addresses and calls the kernels in order.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "engines/reference/program.h"

namespace opentrn::engines::reference {

namespace {

/// An array on the stack, or on the heap when it does not fit.
template <size_t inline_size>
class Addresses {
 public:
  explicit Addresses(size_t size) {
    if (size <= inline_size) return;
    heap_.resize(size);
    data_ = heap_.data();
  }
  std::byte*& operator[](size_t i) { return data_[i]; }
  std::byte** data() { return data_; }

 private:
  std::array<std::byte*, inline_size> stack_;
  std::vector<std::byte*> heap_;
  std::byte** data_ = stack_.data();
};

class ReferenceExecutable final : public Executable {
 public:
  explicit ReferenceExecutable(Program program) : program_(std::move(program)) {}

  void run(std::span<const void* const> parameters, std::span<void* const> results) const override {
    run_program(program_, parameters, results);
  }

 private:
  Program program_;
};

void run_steps(const Program& program, std::byte* scratch, std::span<const void* const> parameters,
               std::span<void* const> results) {
  Addresses<24> bases(kFirstParameterBase + parameters.size() + results.size());
  bases[kScratchBase] = scratch;
  bases[kConstantBase] = program.constants.data();
  size_t next = kFirstParameterBase;
  for (const void* parameter : parameters) {
    // Kernels take all addresses alike; none writes to an operand that is not also a result.
    bases[next++] = static_cast<std::byte*>(const_cast<void*>(parameter));
  }
  for (void* result : results) bases[next++] = static_cast<std::byte*>(result);

  Addresses<16> addresses(program.most_arguments);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (size_t j = 0; j < step.arguments.size(); ++j) {
      const Argument argument = step.arguments[j];
      addresses[j] = bases[static_cast<size_t>(argument.base)] + argument.offset;
    }
    step.kernel(addresses.data(), addresses.data() + step.operands);
    if (i % 32 == 31) check_interrupt();
  }
}

}  // namespace

void run_program(const Program& program, std::span<const void* const> parameters, std::span<void* const> results) {
  if (parameters.size() != program.parameters || results.size() != program.results) {
    raise(ErrorKind::Internal, {.where = "reference engine",
                                .what = "wrong number of addresses",
                                .got = concat(parameters.size(), " parameters and ", results.size(), " results"),
                                .expected = concat(program.parameters, " and ", program.results)});
  }
  if (program.scratch_bytes == 0) return run_steps(program, nullptr, parameters, results);
  const Workspace scratch(program.scratch_bytes);
  run_steps(program, scratch.data(), parameters, results);
}

std::unique_ptr<Executable> compile(const Module& module, const neuroncore::Machine&) {
  return std::make_unique<ReferenceExecutable>(compile_program(module));
}

}  // namespace opentrn::engines::reference

// Speed of the emulator's host kernels on one core, for every instruction set this machine has:
//   cmake --build build/release --target bench_kernels && build/release/bench_kernels [part of a name]
#include "neuroncore/emulator/kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace opentrn;
using namespace opentrn::neuroncore;
using namespace opentrn::neuroncore::emulator;

const char* wanted = "";

// Of the processor: other programs on the machine do not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  work();
  double best = 1e30;
  for (int round = 0; round < 7; ++round) {
    const double start = now();
    int64_t calls = 0;
    double elapsed = 0;
    do {
      work();
      ++calls;
      elapsed = now() - start;
    } while (elapsed < 0.01);
    best = std::min(best, elapsed / static_cast<double>(calls));
  }
  return best;
}

void report(const std::string& name, double amount, const char* unit, const std::function<void()>& work) {
  if (name.find(wanted) == std::string::npos) return;
  std::printf("%-48s %8.2f %s\n", name.c_str(), amount / seconds_of(work) * 1e-9, unit);
}

std::vector<float> numbers(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761u % 4001) / 500.0f - 4.0f;
  return values;
}

std::byte* bytes(std::vector<float>& values) { return reinterpret_cast<std::byte*>(values.data()); }

void elementwise(const KernelTable& table, const std::string& set) {
  constexpr int64_t kElements = 16384;
  std::vector<float> a = numbers(kElements), b = numbers(kElements), c(kElements);
  for (const char* name : {"add", "multiply", "max", "divide", "power", "is_lt"}) {
    const AluOp op = std::string(name) == "add"        ? AluOp::Add
                     : std::string(name) == "multiply" ? AluOp::Multiply
                     : std::string(name) == "max"      ? AluOp::Max
                     : std::string(name) == "divide"   ? AluOp::Divide
                     : std::string(name) == "power"    ? AluOp::Power
                                                       : AluOp::LessThan;
    const BinaryKernel kernel = table.binary(op, ComputeType::F32);
    report(set + " binary " + name, kElements, "G elements/s",
           [&] { kernel(kElements, bytes(c), bytes(a), 1, bytes(b), 1); });
  }
  const std::pair<const char*, ActivationFunction> functions[] = {
      {"exp", ActivationFunction::Exp},           {"log", ActivationFunction::Log},
      {"tanh", ActivationFunction::Tanh},         {"erf", ActivationFunction::Erf},
      {"sigmoid", ActivationFunction::Sigmoid},   {"silu", ActivationFunction::Silu},
      {"gelu", ActivationFunction::Gelu},         {"gelu_tanh", ActivationFunction::GeluTanh},
      {"softplus", ActivationFunction::Softplus}, {"sin", ActivationFunction::Sine},
      {"cos", ActivationFunction::Cosine},        {"arctan", ActivationFunction::Arctan},
      {"rsqrt", ActivationFunction::Rsqrt},       {"expm1", ActivationFunction::ExponentialMinusOne},
      {"log1p", ActivationFunction::LogPlusOne},  {"erfc", ActivationFunction::Erfc},
      {"floor", ActivationFunction::Floor},       {"round", ActivationFunction::RoundNearestEven}};
  for (const auto& [name, function] : functions) {
    const UnaryKernel kernel = table.activation(function, ComputeType::F32);
    report(set + " activation " + name, kElements, "G elements/s",
           [&, k = kernel] { k(kElements, bytes(c), bytes(a)); });
  }
  for (const DType dtype :
       {DType::Bool, DType::U8, DType::I32, DType::I64, DType::BF16, DType::F16, DType::F8E4M3FN, DType::F32}) {
    std::vector<float> stored(2 * kElements);
    report(set + " store " + std::string(name(dtype)), kElements, "G elements/s",
           [&] { table.store(ComputeType::F32, dtype)(kElements, bytes(stored), size_of(dtype), bytes(a)); });
    report(set + " load " + std::string(name(dtype)), kElements, "G elements/s",
           [&] { table.load(dtype, ComputeType::F32)(kElements, bytes(c), bytes(stored), size_of(dtype)); });
  }
  for (const auto& [name, op] : {std::pair{"add", AluOp::Add}, {"max", AluOp::Max}, {"multiply", AluOp::Multiply}}) {
    float sum = 0;
    report(set + " reduce " + name, kElements * 4, "GB/s", [&, op = op] {
      table.reduce(op, ComputeType::F32)(kElements, reinterpret_cast<std::byte*>(&sum), bytes(a));
    });
  }
}

void copies(const KernelTable& table, const std::string& set) {
  std::vector<float> a = numbers(1 << 22), b(1 << 22);
  for (const int64_t side : {256, 1024}) {
    for (const int64_t item : {1, 2, 4, 8}) {
      const double amount = static_cast<double>(2 * side * side * item);
      const CopyKernel kernel = table.copy(item);
      report(set + " copy " + std::to_string(side) + " x" + std::to_string(item), amount, "GB/s",
             [&] { kernel(side, side, bytes(b), (side + 16) * item, item, bytes(a), (side + 16) * item, item); });
      report(set + " transpose " + std::to_string(side) + " x" + std::to_string(item), amount, "GB/s",
             [&] { kernel(side, side, bytes(b), (side + 16) * item, item, bytes(a), item, (side + 16) * item); });
    }
  }
}

struct Layout {
  const char* name;
  bool stationary_k_contiguous, moving_k_contiguous;
};

void products(const KernelTable& table, const std::string& set) {
  const Layout layouts[] = {
      {"KM x KN", false, false}, {"MK x KN", true, false}, {"KM x NK", false, true}, {"MK x NK", true, true}};
  for (const DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F8E4M3FN, DType::F64}) {
    for (const Layout& layout : layouts) {
      for (const int64_t n : {512, 16, 4, 1}) {
        for (const int64_t m : {128, 4}) {
          if (m == 4 && n != 512) continue;
          const int64_t k = 128, row = 4096;  // elements between rows of the large matrices the tiles are cut from
          std::vector<float> stationary = numbers(row * 128 * 2), moving = numbers(row * 512 * 2), out(128 * 1024);
          if (dtype != DType::F32) {
            const auto from = numbers(row * 512);
            std::vector<float> copy = from;
            const auto store = table.store(ComputeType::F32, dtype);
            store(row * 128, bytes(stationary), size_of(dtype), bytes(copy));
            store(row * 512, bytes(moving), size_of(dtype), bytes(copy));
          }
          MatmulProblem problem{.k = k,
                                .m = m,
                                .n = n,
                                .stationary = bytes(stationary),
                                .stationary_k = row,
                                .stationary_m = 1,
                                .moving = bytes(moving),
                                .moving_k = row,
                                .moving_n = 1,
                                .out = out.data(),
                                .out_m = 512};
          if (layout.stationary_k_contiguous) std::swap(problem.stationary_k, problem.stationary_m);
          if (layout.moving_k_contiguous) std::swap(problem.moving_k, problem.moving_n);
          const std::string shape = " m" + std::to_string(m) + " n" + std::to_string(n);
          report(set + " matmul " + std::string(name(dtype)) + " " + layout.name + shape,
                 static_cast<double>(2 * m * n * k), "GF/s", [&] { table.matmul(dtype)(problem); });
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  for (const KernelTable* table : available_kernels()) {
    const std::string set(table->instruction_set);
    elementwise(*table, set);
    copies(*table, set);
    products(*table, set);
  }
}

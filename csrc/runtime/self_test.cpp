#include "runtime/self_test.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ir/builder.h"
#include "runtime/configuration.h"

namespace opentrn::runtime {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kInner = 7;
constexpr int64_t kColumns = 3;

/// relu(left @ right + bias)
engines::Module make_module() {
  ir::Builder b("self_test");
  const ir::Value left = b.parameter({DType::F32, {kRows, kInner}});
  const ir::Value right = b.parameter({DType::F32, {kInner, kColumns}});
  const ir::Value bias = b.parameter({DType::F32, {kColumns}});
  const ir::Value product = b.dot_general(left, right, {{}, {}, {1}, {0}}, DType::F32);
  const ir::Value sum = b.add(product, b.broadcast_to(bias, {kRows, kColumns}));
  const ir::Value result = b.maximum(sum, b.splat_like(sum, 0));
  engines::Module module;
  module.graph = b.finish({result});
  const auto layout = [&](ir::Value value) {
    engines::Layout dense;
    dense.type = module.graph.type(value);
    dense.strides = contiguous_strides(dense.type.shape);
    return dense;
  };
  for (const ir::Value parameter : module.graph.parameters) module.parameters.push_back(layout(parameter));
  module.results.push_back(layout(module.graph.results[0]));
  return module;
}

std::vector<float> numbers(int64_t count, float scale) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(scale * static_cast<float>(i % 11 - 5));
  return values;
}

}  // namespace

void engine_self_test() {
  const Configuration& chosen = configuration();
  const auto left = numbers(kRows * kInner, 0.5F);
  const auto right = numbers(kInner * kColumns, 0.25F);
  const auto bias = numbers(kColumns, 1.0F);
  std::vector<float> result(kRows * kColumns);
  const auto executable = chosen.engine->compile(make_module(), *chosen.machine);
  const void* parameters[] = {left.data(), right.data(), bias.data()};
  void* results[] = {result.data()};
  executable->run(parameters, results);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      float expected = bias[static_cast<size_t>(column)];
      for (int64_t k = 0; k < kInner; ++k) {
        expected += left[static_cast<size_t>(row * kInner + k)] * right[static_cast<size_t>(k * kColumns + column)];
      }
      const float actual = result[static_cast<size_t>(row * kColumns + column)];
      // The numbers are small multiples of 1/8, so that every order of summation is exact.
      if (actual == std::max(expected, 0.0F)) continue;
      raise(ErrorKind::Internal, {.where = "engine_self_test",
                                  .what = concat("engine '", chosen.engine->name, "' computed a wrong element"),
                                  .got = std::to_string(actual),
                                  .expected = std::to_string(std::max(expected, 0.0F)),
                                  .action = "report it with the output of 'opentrn doctor'"});
    }
  }
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) features.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) features.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) features.emplace_back("avx512f");
#elif defined(__aarch64__)
  features.emplace_back("neon");
#endif
  return features;
}

}  // namespace opentrn::runtime

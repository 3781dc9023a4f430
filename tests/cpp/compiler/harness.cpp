#include "tests/cpp/compiler/harness.h"

#include <algorithm>
#include <cmath>

#include "engines/engine.h"
#include "engines/reference/kernel.h"
#include "neuroncore/checker.h"
#include "neuroncore/emulator.h"

namespace opentrn::compiler {

namespace {

constexpr std::byte kGuard{0xA5};

Storage storage_for(const ir::Layout& layout) {
  const int64_t span = span_in_bytes(layout.type.shape, layout.strides, size_of(layout.type.dtype));
  return Storage(static_cast<size_t>(std::max<int64_t>(span, 16)), kGuard);
}

int64_t place(const ir::Layout& layout, int64_t index) {
  int64_t elements = 0;
  for (size_t i = layout.strides.size(); i-- > 0; index /= layout.type.shape[i]) {
    elements += index % layout.type.shape[i] * layout.strides[i];
  }
  return elements * size_of(layout.type.dtype);
}

Storage filled(const ir::Layout& layout, const std::function<double(int64_t)>& value) {
  Storage storage = storage_for(layout);
  for (int64_t i = 0; i < layout.type.elements(); ++i) {
    visit_dtype(layout.type.dtype, [&]<typename T>() {
      const T element = convert_element<T>(value(i));
      std::memcpy(storage.data() + place(layout, i), &element, sizeof(T));
    });
  }
  return storage;
}

std::vector<double> values(const ir::Layout& layout, const Storage& storage) {
  std::vector<double> result;
  for (int64_t i = 0; i < layout.type.elements(); ++i) {
    visit_dtype(layout.type.dtype, [&]<typename T>() {
      T element;
      std::memcpy(&element, storage.data() + place(layout, i), sizeof(T));
      result.push_back(convert_element<double>(element));
    });
  }
  return result;
}

using Runner = std::function<void(std::span<const void* const>, std::span<void* const>)>;

std::vector<Storage> run(const Case& test, const Runner& runner) {
  std::vector<Storage> parameters = test.parameters;
  std::vector<Storage> results;
  for (const ir::Layout& layout : test.module.results) results.push_back(storage_for(layout));
  std::vector<const void*> sources;
  std::vector<void*> targets;
  for (Storage& storage : parameters) sources.push_back(storage.data());
  for (Storage& storage : results) targets.push_back(storage.data());
  for (const ir::Overlap& overlap : test.module.overlaps) {
    targets[static_cast<size_t>(overlap.result)] = parameters[static_cast<size_t>(overlap.parameter)].data();
  }
  runner(sources, targets);
  for (const ir::Overlap& overlap : test.module.overlaps) {
    results[static_cast<size_t>(overlap.result)] = parameters[static_cast<size_t>(overlap.parameter)];
  }
  return results;
}

neuroncore::HostFunction library(const ir::Node& node, std::span<const ir::View> operands,
                                 std::span<const ir::View> results) {
  return engines::reference::make_kernel({node, operands, results});
}

using Compare =
    std::function<void(const ir::Layout&, const Storage& result, const Storage& expected, const std::string& what)>;

void compare_all(const Case& test, const std::string& what, const Compare& compare) {
  const auto& machine = neuroncore::machines()[0];
  const auto reference = engines::engine("reference").compile(test.module, machine);
  const std::vector<Storage> expected =
      run(test, [&](auto sources, auto targets) { reference->run(sources, targets); });
  for (const neuroncore::Machine& target : neuroncore::machines()) {
    for (const bool check : {true, false}) {
      const neuroncore::Emulator emulator(compiled(test.module, target), target, {.check = check});
      const std::vector<Storage> results =
          run(test, [&](auto sources, auto targets) { emulator.run(sources, targets); });
      for (size_t i = 0; i < results.size(); ++i) {
        compare(test.module.results[i], results[i], expected[i],
                concat(what, " on ", target.name, check ? ", checked" : ", fast", ", result ", i));
      }
    }
  }
}

}  // namespace

ir::Layout row_major(const ir::TensorType& type) { return {type, contiguous_strides(type.shape)}; }

Case::Case(const std::vector<ir::TensorType>& types, const Build& build,
           const std::function<double(size_t, int64_t)>& values)
    : Case(
          [&] {
            std::vector<ir::Layout> layouts;
            for (const ir::TensorType& type : types) layouts.push_back(row_major(type));
            return layouts;
          }(),
          build, values) {}

Case::Case(const std::vector<ir::Layout>& layouts, const Build& build,
           const std::function<double(size_t, int64_t)>& values) {
  ir::Builder builder;
  std::vector<ir::Value> operands;
  for (size_t p = 0; p < layouts.size(); ++p) {
    operands.push_back(builder.parameter(layouts[p].type));
    parameters.push_back(filled(layouts[p], [&](int64_t i) { return values(p, i); }));
  }
  module.parameters = layouts;
  module.graph = builder.finish(build(builder, operands));
  for (const ir::Value result : module.graph.results) module.results.push_back(row_major(module.graph.type(result)));
}

Case& Case::in_place(int result, int parameter) {
  module.overlaps.push_back({result, parameter, true});
  module.results[static_cast<size_t>(result)] = module.parameters[static_cast<size_t>(parameter)];
  return *this;
}

Case& Case::strides_of_result(size_t result, const Dims& strides) {
  module.results[result].strides = strides;
  return *this;
}

neuroncore::Program compiled(const ir::Module& module, const neuroncore::Machine& machine) {
  neuroncore::Program program = compile(module, machine, library);
  neuroncore::check(program, machine);
  return program;
}

void expect_same_bytes(const Case& test, const std::string& what) {
  compare_all(test, what,
              [](const ir::Layout& layout, const Storage& result, const Storage& expected, const std::string& where) {
                if (result == expected) return;
                const std::vector<double> got = values(layout, result), wanted = values(layout, expected);
                for (size_t i = 0; i < got.size(); ++i) {
                  ASSERT_EQ(got[i], wanted[i]) << where << ", element " << i << " of " << ir::to_string(layout.type);
                }
                ADD_FAILURE() << where << ": bytes differ";
              });
}

void expect_close(const Case& test, double tolerance, const std::string& what) {
  compare_all(test, what,
              [&](const ir::Layout& layout, const Storage& result, const Storage& expected, const std::string& where) {
                const std::vector<double> got = values(layout, result), wanted = values(layout, expected);
                double largest = 0;
                for (const double value : wanted)
                  largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0.0);
                for (size_t i = 0; i < got.size(); ++i) {
                  if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
                  ASSERT_LE(std::abs(got[i] - wanted[i]), tolerance * largest)
                      << where << ", element " << i << " is " << got[i] << ", expected " << wanted[i];
                }
              });
}

void expect_same_error(const Case& test, const std::string& what) {
  const auto outcome = [&](const auto& executable) {
    std::string error;
    const std::vector<Storage> results = run(test, [&](auto sources, auto targets) {
      try {
        executable.run(sources, targets);
      } catch (const Error& raised) {
        error = concat(static_cast<int>(raised.kind()), " ", raised.what());
      }
    });
    std::vector<Storage> kept;
    for (const ir::Overlap& overlap : test.module.overlaps)
      kept.push_back(results[static_cast<size_t>(overlap.result)]);
    return std::pair(error, kept);
  };
  const auto expected = outcome(*engines::engine("reference").compile(test.module, neuroncore::machines()[0]));
  ASSERT_FALSE(expected.first.empty()) << what << " raises nothing";
  for (const neuroncore::Machine& target : neuroncore::machines()) {
    for (const bool check : {true, false}) {
      const auto got = outcome(neuroncore::Emulator(compiled(test.module, target), target, {.check = check}));
      const std::string where = concat(what, " on ", target.name, check ? ", checked" : ", fast");
      EXPECT_EQ(got.first, expected.first) << where;
      EXPECT_TRUE(got.second == expected.second) << where << ": other memory";
    }
  }
}

int64_t count(const neuroncore::Program& program, neuroncore::Opcode opcode) {
  return std::count_if(program.instructions.begin(), program.instructions.end(),
                       [&](const neuroncore::Instruction& instruction) { return instruction.opcode == opcode; });
}

double small_whole(size_t p, int64_t i) {
  return p % 2 == 0 ? static_cast<double>(i * 7 % 5) - 2 : static_cast<double>(i * 5 % 7) - 3;
}

}  // namespace opentrn::compiler

// Runs one graph on two engines, compares, and cuts what differs down to a few nodes.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/conformance/harness.h"
#include "tests/random_graphs/generator.h"

namespace opentrn::random_graphs {

/// A graph with everything a run needs.
struct Case {
  ir::Graph graph;
  std::vector<conformance::Tensor> inputs;
  std::vector<double> tolerances;  // by result: the engines may differ by this much
};

/// Random numbers and layouts for the parameters.
Case make_case(const Drawn& drawn, uint64_t seed);

/// Computes the results of a case. Their layouts depend on the seed alone, so that a shrunk case has the same ones.
using Runner = std::function<std::vector<conformance::Tensor>(const Case& tried, uint64_t layout_seed)>;

/// Runs on the engine of that name.
Runner engine_runner(std::string name);

/// What differs between the oracle and `runner`, or nothing.
std::optional<std::string> difference(const Case& tried, const Runner& runner, uint64_t layout_seed);

/// A smaller case that still differs.
Case shrink(Case failing, const Runner& runner, uint64_t layout_seed);

/// The case as a StableHLO module without parameters: its inputs are constants.
std::string reproducer(const Case& failing);

}  // namespace opentrn::random_graphs

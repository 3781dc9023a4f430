// Runs StableHLO text: parsed, verified, canonicalised, compiled for an engine, and run once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace opentrn::engines {

struct RunOptions {
  /// What "?" in the types of parameters stands for; see ir::ParseOptions.
  std::optional<int64_t> dynamic_size = {};
  /// What every element of every parameter is. A module with parameters is refused without it.
  std::optional<double> fill = {};
  bool show = false;  // a function with parameters and nothing to fill them is compiled, and not run
};

struct RunReport {
  std::string name;                  // of the function
  int64_t checks = 0;                // expectations that held
  std::vector<std::string> results;  // "dense<[1.0, 2.0]> : tensor<2xf32>"
  std::string text;                  // the graph as it was parsed
  std::string program;               // what the engine compiled it to; empty if it has no text for that
};

/// Raises what the parser, the engine or a failed expectation raises.
RunReport run_text(std::string_view text, const Engine& engine, const neuroncore::Machine& machine,
                   const RunOptions& options = {});

}  // namespace opentrn::engines

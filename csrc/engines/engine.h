// The engine interface: everything above this line of the design is the same whatever executes the graph.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "neuroncore/machine.h"

namespace opentrn::engines {

using ir::Layout;
using ir::Module;
using ir::Overlap;

/// What can be said about a compiled module. Engines without programs leave everything empty.
struct ProgramFacts {
  std::vector<std::string> library_calls;        // primitives without a tile form, once per call
  std::vector<std::string> without_native_unit;  // what the chip has no unit for, each once
};

/// A compiled module. `run` may be called from several threads at once.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Addresses of the first element of each parameter and of each result. All results are computed as if every
  /// parameter was read before any result is written.
  virtual void run(std::span<const void* const> parameters, std::span<void* const> results) const = 0;
  virtual ProgramFacts facts() const { return {}; }
  /// The NeuronCore program, or nothing.
  virtual std::string program_text() const { return {}; }
};

struct Engine {
  std::string_view name;
  std::string_view description;
  std::unique_ptr<Executable> (*compile)(const Module& module, const neuroncore::Machine& machine);
};

/// All engines of this build, the default first.
std::span<const Engine> engines();

/// The engine of that name. Raises an Error of kind Value that lists the valid names.
const Engine& engine(std::string_view name);

}  // namespace opentrn::engines

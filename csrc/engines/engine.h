// The engine interface: everything above this line of the design is the same whatever executes the graph.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "neuroncore/machine.h"

namespace opentrn::engines {

using ir::Layout;
using ir::Module;
using ir::Overlap;

/// A compiled module. `run` may be called from several threads at once.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Addresses of the first element of each parameter and of each result. All results are computed as if every
  /// parameter was read before any result is written.
  virtual void run(std::span<const void* const> parameters, std::span<void* const> results) const = 0;
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

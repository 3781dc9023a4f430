// The engine interface: everything above this line of the design is the same whatever executes the graph.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "neuroncore/machine.h"

namespace opentrn::engines {

/// How an operand or result lies in memory. Strides count elements and may be 0 (expanded), never negative.
struct Layout {
  ir::TensorType type;
  Dims strides;
};

/// What the caller promises about the memory of result `result` and parameter `parameter`.
struct Overlap {
  int result = 0;
  int parameter = 0;
  bool identical = false;  // same address, shape and strides; otherwise they overlap in some other way
};

/// A graph with the memory layouts it will be called with. One layout per parameter and per result.
struct Module {
  ir::Graph graph;
  std::vector<Layout> parameters;
  std::vector<Layout> results;
  std::vector<Overlap> overlaps;
};

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

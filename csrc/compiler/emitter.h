// What the families of the compiler share: the program under construction, and where values lie in HBM.
#pragma once

#include <vector>

#include "compiler/compiler.h"
#include "ir/view.h"
#include "neuroncore/builder.h"

namespace opentrn::compiler {

/// A value in HBM: a buffer of the program, and how the value lies in it. `view.offset` is in bytes.
struct Location {
  int32_t buffer = -1;
  ir::View view;
};

/// Nodes [first, last) of the graph, emitted together.
struct Range {
  size_t first = 0;
  size_t last = 0;
};

class Emitter {
 public:
  Emitter(const ir::Module& module, const neuroncore::Machine& machine, LibraryMaker library);

  const ir::Graph& graph() const { return graph_; }
  const ir::Node& node(size_t index) const { return graph_.nodes[index]; }
  const ir::TensorType& type(ir::Value value) const { return graph_.type(value); }
  const neuroncore::Machine& machine() const { return machine_; }
  LibraryMaker library() const { return library_; }
  neuroncore::Builder& program() { return program_; }

  /// Where a value lies that has been computed (parameters and constants are).
  const Location& location(ir::Value value);

  /// The node that makes a value, or null for a parameter.
  const ir::Node* producer(ir::Value value) const { return producers_[static_cast<size_t>(value.id)]; }

  /// True when a node at or after `position` reads the value, or it is a result of the graph.
  bool needed_after(ir::Value value, size_t position) const;
  /// How many operands of nodes, and results of the graph, are this value.
  int uses(ir::Value value) const { return uses_[static_cast<size_t>(value.id)]; }

  /// Decides where a value made by `range` lies in HBM: in the graph's result if that is possible, else in memory of
  /// its own. `per_element`: the range reads element i of every operand before it writes element i of any result, and
  /// nothing else of an operand after that (so that a result may lie in the memory of a parameter).
  Location place(ir::Value value, Range range, bool per_element);
  /// The same, but the value must not lie elsewhere than row-major.
  Location place_row_major(ir::Value value, Range range);

  /// The same, but never in a result of the graph.
  Location place_aside(ir::Value value);

  /// The register of a start index in `dimension`. What it holds is for one primitive: the next one loads it anew.
  int32_t offset_register(size_t dimension);

  /// Memory of its own, row-major.
  Location internal(const ir::TensorType& type);

  /// Values that are only another look at memory (transposed, sliced, broadcast, ...). False when it has to be moved.
  bool alias(const ir::Node& node);

  /// Copies what the graph's results still miss, and ends the program.
  neuroncore::Program finish();

  /// Emits a copy between two locations of equal shape and type.
  void copy(const Location& source, const Location& destination);

  /// True when both are the same elements in the same places: of one buffer, or of a parameter and the result that lies
  /// in its memory.
  bool same_memory(const Location& left, const Location& right) const;

  /// The operand, or a copy of it when writing `result` might change it.
  Location kept_from(const Location& operand, const Location& result);

 private:
  struct Pin {
    int32_t result = -1;
    ir::View view;
  };

  void check_layouts() const;
  void place_parameters();
  void find_uses();
  void find_roots();
  void find_pins();
  void note_read(ir::Value value, int64_t when);
  void pin(ir::Value value, size_t result, const ir::View& view);
  bool may_write_to(const Pin& pin, Range range, bool per_element) const;
  bool reads_only_same_places(int64_t parameter, const Pin& pin, Range range) const;
  Location constant(const ir::Node& node);
  bool already_there(const Location& source, size_t result) const;
  bool is_overwritten(int32_t buffer) const;
  bool overlaps(int32_t left, int32_t right) const;

  const ir::Module& module_;
  const ir::Graph& graph_;
  const neuroncore::Machine& machine_;
  LibraryMaker library_;
  neuroncore::Builder program_;
  std::vector<Location> locations_;         // by value; buffer -1: not placed yet
  std::vector<const ir::Node*> producers_;  // by value
  std::vector<int> uses_;                   // by value
  std::vector<int64_t> last_use_;           // by value: the last node that reads it
  std::vector<int64_t> roots_;              // by value: the parameter it may be a view of
  std::vector<int64_t> last_reads_;         // by parameter: the last node that may read it
  std::vector<Pin> pins_;                   // by value
  std::vector<bool> pin_taken_;             // by result
  std::vector<int32_t> parameter_buffers_, result_buffers_;
  std::vector<int32_t> offset_registers_;  // by dimension
};

}  // namespace opentrn::compiler

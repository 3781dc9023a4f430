// Random graphs whose results are known to be computable: every value carries a bound of its magnitude and of the error
// that two correct engines may differ by.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "ir/builder.h"

namespace opentrn::random_graphs {

/// What is known about a value. `error` 0: every engine must give exactly the same elements.
struct Known {
  ir::Value value;
  double bound = 0;  // no element is larger in magnitude
  double error = 0;  // no engine's element is further from the true one
};

struct Drawn {
  ir::Graph graph;           // its results are all values that nothing else reads
  std::vector<Known> known;  // by result
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : engine_(seed) {}

  Drawn draw();

 private:
  // Random choices.
  int64_t between(int64_t low, int64_t high);
  bool chance(double probability);
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[static_cast<size_t>(between(0, static_cast<int64_t>(items.size()) - 1))];
  }
  Dims shape();
  DType dtype();
  const Known& any();
  /// A value of this very type: one that exists, or a new parameter.
  Known like(const ir::TensorType& type);
  Known parameter(const ir::TensorType& type);

  // Each adds nodes for one kind of primitive; does nothing when the drawn operands do not suit.
  void step();
  void unary();
  void smooth();
  void binary();
  void divide();
  void bitwise();
  void compare();
  void select();
  void convert();
  void broadcast();
  void reshape();
  void transpose();
  void slice();
  void pad();
  void concatenate();
  void reverse();
  void iota();
  void reduce();
  void scan();
  void pool();
  void dot();
  void gather();
  void scatter();
  void dynamic_slice();
  void sort();

  void keep(ir::Value value, double bound, double error);
  void keep_rounded(ir::Value value, double bound, double error);
  const ir::TensorType& type(const Known& known) const { return builder_.type(known.value); }

  std::mt19937_64 engine_;
  ir::Builder builder_;
  std::vector<Known> pool_;
  std::vector<bool> read_;  // by value id
  void note_read(const Known& known);
};

}  // namespace opentrn::random_graphs

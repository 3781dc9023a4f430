// A graph: one function in SSA form with static shapes. Plain data; the builder makes it, the verifier checks it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/attributes.h"
#include "ir/opcode.h"
#include "ir/types.h"

namespace opentrn::ir {

struct Node {
  Op op = Op::Add;
  std::vector<Value> operands;
  std::vector<Value> results;
  Attributes attributes;

  template <typename T>
  const T& as() const {
    return std::get<T>(attributes);
  }
};

struct Graph {
  std::string name = "main";
  std::deque<TensorType> types;  // by value id; a deque, so that a type stays in place while the graph grows
  std::vector<Value> parameters;
  std::vector<Node> nodes;  // in an order in which every operand is defined before its use
  std::vector<Value> results;

  const TensorType& type(Value value) const { return types[static_cast<size_t>(value.id)]; }
  Value new_value(TensorType type) {
    types.push_back(std::move(type));
    return Value{static_cast<int32_t>(types.size()) - 1};
  }
};

}  // namespace opentrn::ir

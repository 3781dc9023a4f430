// What the tests of the checker share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neuroncore/builder.h"
#include "neuroncore/checker.h"
#include "neuroncore/dependencies.h"

namespace opentrn::neuroncore {

using Build = std::function<void(Builder&)>;
using Rules = std::vector<std::string>;

/// The names of the rules a program breaks on a machine, each once, in order.
inline Rules broken_rules(const Program& program, std::string_view target) {
  Rules rules;
  for (const Violation& violation : violations(program, machine(target))) {
    if (std::find(rules.begin(), rules.end(), violation.rule) == rules.end()) rules.push_back(violation.rule);
  }
  return rules;
}

inline Program built(std::string_view target, const Build& build, bool waits = true) {
  Builder builder("sample", std::string(target));
  build(builder);
  Program program = builder.finish();
  if (waits) add_waits(program);
  return program;
}

/// Rules that the program breaks when all waits are in place.
inline Rules rules_on(std::string_view target, const Build& build) {
  return broken_rules(built(target, build), target);
}
/// Of programs so broken that no waits can be computed.
inline Rules rules_without_waits(const Build& build) { return broken_rules(built("trn2", build, false), "trn2"); }

/// The text of all violations.
inline std::string complaints(std::string_view target, const Build& build) {
  std::string text;
  for (const Violation& violation : violations(built(target, build), machine(target))) text += violation.message + "\n";
  return text;
}

inline Rules rules(const Build& build) { return rules_on("trn2", build); }
inline const Rules kNone;

/// An access with these dimensions behind the partitions.
inline Access shaped(const Builder& builder, int32_t buffer, int64_t partitions, std::vector<PatternDimension> free) {
  Access access = builder.tile(buffer);
  access.pattern.resize(1);
  access.pattern[0].size = partitions;
  access.pattern.insert(access.pattern.end(), free.begin(), free.end());
  return access;
}

/// Tiles of their own, as large as asked for.
inline Access sbuf(Builder& builder, DType dtype, int64_t partitions, int64_t elements) {
  return builder.tile(builder.sbuf(dtype, partitions, elements));
}
inline Access psum(Builder& builder, DType dtype, int64_t partitions, int64_t elements) {
  return builder.tile(builder.psum(dtype, partitions, elements));
}

}  // namespace opentrn::neuroncore

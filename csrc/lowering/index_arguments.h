// Checks and conversions of index operands, shared by the rules that read and those that write with indices.
#pragma once

#include "lowering/rule.h"

namespace opentrn::lowering {

/// Which index types an operator takes, and the error it raises for others.
enum class IndexTypes { Int32OrInt64, Int64 };
void require_index_type(const Context& context, std::string_view name, IndexTypes types,
                        ErrorKind kind = ErrorKind::Runtime);

/// The indices with a run-time range check against dimension `dim` of `shape`.
ir::Value checked(Context& context, ir::Value index, const Dims& shape, int64_t dim, ir::IndexRule rule);

/// A 0-dimensional value as one of 1 dimension; others unchanged.
ir::Value at_least_1d(ir::Builder& b, ir::Value value);
Dims at_least_1d(const Dims& shape);

/// A tensor as a vector, in row-major order.
ir::Value flattened(ir::Builder& b, ir::Value value);

}  // namespace opentrn::lowering

#include "base/index_check.h"

#include <utility>

#include "base/error.h"

namespace opentrn {

IndexCheck make_index_check(std::span<const int64_t> integers, std::string where) {
  return {.size = integers[0],
          .dimension = integers[1],
          .rule = integers.size() > 2 ? static_cast<IndexRule>(integers[2]) : IndexRule::WrapNegative,
          .where = std::move(where)};
}

void raise_index_error(const IndexCheck& check, int64_t index) {
  const bool runtime = check.rule == IndexRule::NonNegativeRuntime;
  raise(runtime ? ErrorKind::Runtime : ErrorKind::Index,
        {.where = check.where,
         .what =
             concat("index ", index, " is out of bounds for dimension ", check.dimension, " with size ", check.size)});
}

void raise_failed_check(const std::string& message) { throw Error(ErrorKind::Runtime, message); }

}  // namespace opentrn

#include "base/arena.h"

#include <algorithm>

namespace opentrn {

int64_t Arena::take(int64_t bytes) {
  if (bytes == 0) return 0;
  const auto gap = best_fit(bytes);
  if (gap == gaps_.end()) return take_at_end(bytes);
  const int64_t offset = gap->offset;
  gap->offset += bytes;
  gap->bytes -= bytes;
  if (gap->bytes == 0) gaps_.erase(gap);
  return offset;
}

void Arena::give_back(int64_t offset, int64_t bytes) {
  auto next = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& gap) { return gap.offset > offset; });
  next = gaps_.insert(next, {offset, bytes});
  if (next + 1 != gaps_.end() && next->offset + next->bytes == (next + 1)->offset) {
    next->bytes += (next + 1)->bytes;
    gaps_.erase(next + 1);
  }
  if (next == gaps_.begin() || (next - 1)->offset + (next - 1)->bytes != next->offset) return;
  (next - 1)->bytes += next->bytes;
  gaps_.erase(next);
}

std::vector<Arena::Gap>::iterator Arena::best_fit(int64_t bytes) {
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->bytes >= bytes && (best == gaps_.end() || gap->bytes < best->bytes)) best = gap;
  }
  return best;
}

// Grows the last gap if it reaches the end.
int64_t Arena::take_at_end(int64_t bytes) {
  int64_t offset = end_;
  if (!gaps_.empty() && gaps_.back().offset + gaps_.back().bytes == end_) {
    offset = gaps_.back().offset;
    gaps_.pop_back();
  }
  end_ = offset + bytes;
  return offset;
}

}  // namespace opentrn

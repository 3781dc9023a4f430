// A fold over elements as they are stored: narrow floats are widened on the way in and rounded on the way out.
#pragma once

#include <algorithm>

#include "base/convert_rows.h"
#include "engines/reference/folds.h"

namespace opentrn::engines::reference {

class Folder {
 public:
  Folder(ir::Op reducer, DType stored)
      : fold_(&fold_for(reducer, compute_dtype(stored))), stored_size_(size_of(stored)) {
    if (compute_dtype(stored) == stored) return;
    widen_ = convert_row(stored, compute_dtype(stored));
    narrow_ = convert_row(compute_dtype(stored), stored);
  }

  int64_t accumulator_size() const { return fold_->accumulator_size; }
  void neutral(std::byte* accumulator) const { fold_->neutral(accumulator); }
  void merge(int64_t n, const std::byte* others, std::byte* accumulators) const {
    fold_->merge(n, others, accumulators);
  }

  void start(const std::byte* element, std::byte* accumulator) const {
    if (widen_ == nullptr) return fold_->start(element, accumulator);
    alignas(16) std::byte wide[kMaxAccumulator];
    widen_(element, 0, wide, 1, 1);
    fold_->start(wide, accumulator);
  }

  void fold(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulator) const {
    if (widen_ == nullptr) return fold_->fold(n, elements, step, accumulator);
    in_blocks(n, elements, step, [&](int64_t count, const std::byte* wide, int64_t) {
      fold_->fold(count, wide, fold_->element_size, accumulator);
    });
  }

  /// Folds elements one by one and writes the result after each.
  void scan(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulator, std::byte* results,
            int64_t result_step) const {
    alignas(64) std::byte wide[kBlock * kMaxAccumulator];
    alignas(64) std::byte running[kBlock * kMaxAccumulator];
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      const std::byte* from = elements + first * step;
      if (widen_ != nullptr) widen_(from, step / stored_size_, wide, 1, count);
      fold_->scan(count, widen_ != nullptr ? wide : from, widen_ != nullptr ? fold_->element_size : step, accumulator,
                  running);
      finish(count, running, results + first * result_step, result_step);
    }
  }

  bool starts_neutral(const std::byte* initial) const {
    alignas(16) std::byte started[kMaxAccumulator];
    alignas(16) std::byte nothing[kMaxAccumulator];
    start(initial, started);
    neutral(nothing);
    return std::equal(started, started + accumulator_size(), nothing);
  }

  void fold_each(int64_t n, const std::byte* elements, int64_t step, std::byte* accumulators) const {
    if (widen_ == nullptr) return fold_->fold_each(n, elements, step, accumulators);
    in_blocks(n, elements, step, [&](int64_t count, const std::byte* wide, int64_t first) {
      fold_->fold_each(count, wide, fold_->element_size, accumulators + first * fold_->accumulator_size);
    });
  }

  /// Writes `n` results, `step` bytes apart.
  void finish(int64_t n, const std::byte* accumulators, std::byte* results, int64_t step) const {
    if (widen_ == nullptr && (step == stored_size_ || n == 1)) return fold_->finish(n, accumulators, results);
    alignas(64) std::byte block[kBlock * kMaxAccumulator];
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      fold_->finish(count, accumulators + first * fold_->accumulator_size, block);
      std::byte* to = results + first * step;
      if (narrow_ != nullptr) {
        narrow_(block, 1, to, step / stored_size_, count);
      } else {
        for (int64_t i = 0; i < count; ++i) std::copy_n(block + i * stored_size_, stored_size_, to + i * step);
      }
    }
  }

 private:
  static constexpr int64_t kBlock = 256;

  template <typename Body>
  void in_blocks(int64_t n, const std::byte* elements, int64_t step, Body body) const {
    alignas(64) std::byte wide[kBlock * kMaxAccumulator];
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      widen_(elements + first * step, step / stored_size_, wide, 1, count);
      body(count, wide, first);
    }
  }

  const Fold* fold_;
  int64_t stored_size_;
  ConvertRow widen_ = nullptr;
  ConvertRow narrow_ = nullptr;
};

}  // namespace opentrn::engines::reference

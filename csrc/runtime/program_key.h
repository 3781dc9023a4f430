// The key of the program cache: everything that shapes a program, packed into 64-bit words, and never a value.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace opentrn::runtime {

/// Collects words in a fixed buffer; keys of calls with very many operands spill to the heap.
class ProgramKey {
 public:
  void add(uint64_t word) {
    if (size_ < kInline) {
      words_[size_++] = word;
    } else {
      spill_.push_back(word);
    }
    // Multiply and fold: one pass good enough for a table that compares whole keys anyway.
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15ull;
    hash_ ^= hash_ >> 29;
  }
  void add(int64_t word) { add(static_cast<uint64_t>(word)); }
  void add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    for (size_t i = 0; i < text.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, text.size() - i < 8 ? text.size() - i : 8);
      add(word);
    }
  }

  uint64_t hash() const { return hash_; }
  size_t size() const { return size_ + spill_.size(); }
  /// The words as one value that can be stored.
  std::vector<uint64_t> words() const {
    std::vector<uint64_t> all(words_, words_ + size_);
    all.insert(all.end(), spill_.begin(), spill_.end());
    return all;
  }
  bool equals(const std::vector<uint64_t>& other) const {
    if (other.size() != size()) return false;
    if (std::memcmp(other.data(), words_, size_ * sizeof(uint64_t)) != 0) return false;
    return spill_.empty() || std::memcmp(other.data() + size_, spill_.data(), spill_.size() * sizeof(uint64_t)) == 0;
  }

 private:
  static constexpr size_t kInline = 96;
  uint64_t words_[kInline];
  size_t size_ = 0;
  uint64_t hash_ = 0x243F6A8885A308D3ull;
  std::vector<uint64_t> spill_;
};

}  // namespace opentrn::runtime

// The program cache: one table for the process, with a small table per thread in front of it, so that a hit takes no lock.
// Programs live as long as the process: threads may hold pointers to them.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/program_key.h"

namespace opentrn::runtime {

template <typename Program>
class ProgramCache {
 public:
  /// The program of that key, or nullptr.
  Program* find(const ProgramKey& key) {
    Slot& slot = front()[key.hash() % kFrontSlots];
    if (slot.owner == this && slot.hash == key.hash() && key.equals(slot.entry->words)) return &slot.entry->program;
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(key.hash());
    for (auto it = begin; it != end; ++it) {
      if (!key.equals(it->second->words)) continue;
      slot = {this, key.hash(), it->second.get()};
      return &it->second->program;
    }
    return nullptr;
  }

  /// Adds a program. When another thread was quicker with the same key, its program stays and is returned.
  Program* insert(const ProgramKey& key, Program program) {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = entries_.equal_range(key.hash());
    for (auto it = begin; it != end; ++it) {
      if (key.equals(it->second->words)) return &it->second->program;
    }
    auto entry = std::make_unique<Entry>(Entry{key.words(), std::move(program)});
    return &entries_.emplace(key.hash(), std::move(entry))->second->program;
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::vector<uint64_t> words;
    Program program;
  };
  struct Slot {
    const ProgramCache* owner = nullptr;
    uint64_t hash = 0;
    Entry* entry = nullptr;
  };
  static constexpr size_t kFrontSlots = 4096;

  // One front table per thread serves all caches of a Program type; slots know their owner.
  static std::array<Slot, kFrontSlots>& front() {
    thread_local std::array<Slot, kFrontSlots> slots{};
    return slots;
  }

  std::mutex mutex_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace opentrn::runtime

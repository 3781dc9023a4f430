// The program cache: one table for the process, with a small table per thread in front of it, so that a hit takes no
// lock.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/program_key.h"

namespace opentrn::runtime {

/// Holds at most `capacity` programs. Decoding with a growing cache of keys and values makes new shapes without end, so
/// programs that were not looked up for long are dropped: a full young generation becomes the old one, whose programs
/// return to the young one when they are asked for and else go with it.
template <typename Program>
class ProgramCache {
 public:
  explicit ProgramCache(size_t capacity = size_t{1} << 15) : capacity_(capacity) {}

  using Handle = std::shared_ptr<const Program>;

  /// The program of that key, or nullptr.
  Handle find(const ProgramKey& key) {
    Slot& slot = front_slot(key);
    if (slot.owner == this && key.equals(slot.entry->words)) return handle(slot.entry);
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry> entry = look_up(young_, key);
    if (entry == nullptr) {
      entry = look_up(old_, key);
      if (entry == nullptr) return nullptr;
      add_to_young(key.hash(), entry);
    }
    slot = {this, entry};
    return handle(entry);
  }

  /// Adds a program. When another thread was quicker with the same key, its program stays and is returned.
  Handle insert(const ProgramKey& key, Program program) {
    Slot& slot = front_slot(key);
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Entry> entry = look_up(young_, key);
    if (entry == nullptr) {
      entry = std::make_shared<Entry>(Entry{key.words(), std::move(program)});
      add_to_young(key.hash(), entry);
    }
    slot = {this, entry};
    return handle(entry);
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return young_.size() + old_.size();
  }

 private:
  struct Entry {
    std::vector<uint64_t> words;
    Program program;
  };
  struct Slot {
    const ProgramCache* owner = nullptr;
    std::shared_ptr<Entry> entry;
  };
  using Table = std::unordered_multimap<uint64_t, std::shared_ptr<Entry>>;
  static constexpr size_t kFrontSlots = 4096;

  /// Shares ownership, so that a program dropped while it runs lives on.
  static Handle handle(const std::shared_ptr<Entry>& entry) { return Handle(entry, &entry->program); }

  // One front table per thread serves all caches of a Program type; slots know their owner.
  static Slot& front_slot(const ProgramKey& key) {
    thread_local std::array<Slot, kFrontSlots> slots{};
    return slots[key.hash() % kFrontSlots];
  }

  static std::shared_ptr<Entry> look_up(const Table& table, const ProgramKey& key) {
    const auto [begin, end] = table.equal_range(key.hash());
    for (auto it = begin; it != end; ++it) {
      if (key.equals(it->second->words)) return it->second;
    }
    return nullptr;
  }

  void add_to_young(uint64_t hash, const std::shared_ptr<Entry>& entry) {
    if (young_.size() >= capacity_ / 2) {
      old_ = std::move(young_);
      young_.clear();
    }
    young_.emplace(hash, entry);
  }

  const size_t capacity_;
  std::mutex mutex_;
  Table young_, old_;
};

}  // namespace opentrn::runtime

#include "engines/reference/storage.h"

#include <algorithm>
#include <cstddef>

#include "base/arena.h"
#include "engines/reference/buffer.h"

namespace opentrn::engines::reference {

namespace {

class ScratchAssignment {
 public:
  ScratchAssignment(std::vector<Storage>& storages, const std::vector<Access>& steps)
      : storages_(storages), steps_(steps), last_use_(storages.size(), -1), freed_(storages.size(), false) {
    for (size_t i = 0; i < steps.size(); ++i) {
      for (const Place& place : steps[i].operands) last_use_[index(place)] = static_cast<int64_t>(i);
      for (const Place& place : steps[i].results) last_use_[index(place)] = static_cast<int64_t>(i);
    }
  }

  int64_t run() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (size_t r = 0; r < steps_[i].results.size(); ++r) place_result(i, r);
      for (const Place& place : steps_[i].operands) free_if_dead(place, i);
      for (const Place& place : steps_[i].results) free_if_dead(place, i);
    }
    return arena_.high_water();
  }

 private:
  static size_t index(const Place& place) { return static_cast<size_t>(place.storage); }
  bool is_scratch(const Place& place) const { return storages_[index(place)].home == Home::Scratch; }
  bool dies_at(const Place& place, size_t step) const { return last_use_[index(place)] == static_cast<int64_t>(step); }

  void place_result(size_t step, size_t result) {
    const Place& place = steps_[step].results[result];
    if (!is_scratch(place)) return;
    Storage& storage = storages_[index(place)];
    const int64_t heir_of = result == 0 ? overwritten_operand(step) : -1;
    if (heir_of < 0) {
      storage.offset = arena_.take(aligned(storage.bytes));
      return;
    }
    storage.offset = storages_[static_cast<size_t>(heir_of)].offset;
    freed_[static_cast<size_t>(heir_of)] = true;  // its memory lives on as the result's
  }

  // The storage of an operand that dies here and whose every element is read just before the result's is written to its
  // place.
  int64_t overwritten_operand(size_t step) const {
    const Access& access = steps_[step];
    const Place& result = access.results[0];
    for (size_t i = 0; i < access.operands.size() && i < 64; ++i) {
      const Place& operand = access.operands[i];
      const bool candidate = (access.overwritable >> i & 1) != 0 && is_scratch(operand) && dies_at(operand, step) &&
                             storages_[index(operand)].bytes == storages_[index(result)].bytes &&
                             same_places(operand.view, result.view);
      if (candidate && others_agree(access, i)) return operand.storage;
    }
    return -1;
  }

  static bool others_agree(const Access& access, size_t chosen) {
    const Place& operand = access.operands[chosen];
    for (size_t i = 0; i < access.operands.size() && i < 64; ++i) {
      if (access.operands[i].storage != operand.storage) continue;
      if ((access.overwritable >> i & 1) == 0 || !same_places(access.operands[i].view, operand.view)) return false;
    }
    return access.operands.size() <= 64;
  }

  void free_if_dead(const Place& place, size_t step) {
    if (!is_scratch(place) || !dies_at(place, step) || freed_[index(place)]) return;
    const Storage& storage = storages_[index(place)];
    freed_[index(place)] = true;
    if (storage.bytes > 0) arena_.give_back(storage.offset, aligned(storage.bytes));
  }

  std::vector<Storage>& storages_;
  const std::vector<Access>& steps_;
  std::vector<int64_t> last_use_;  // by storage: the last step that touches it
  std::vector<bool> freed_;
  Arena arena_;
};

}  // namespace

int64_t assign_scratch(std::vector<Storage>& storages, const std::vector<Access>& steps) {
  return ScratchAssignment(storages, steps).run();
}

}  // namespace opentrn::engines::reference

// Memory for the buffers: tiles used in one loop only share it with the tiles of other loops, and threads that split a
// loop have their own.
#include <algorithm>

#include "base/workspace.h"
#include "neuroncore/emulator/plan.h"
#include "neuroncore/structure.h"

namespace opentrn::neuroncore::emulator {

namespace {

class Placer {
 public:
  Placer(const Program& program, const std::vector<int64_t>& block_bytes, bool share, std::vector<LoopPlan>& loops)
      : program_(program), structure_(program), block_bytes_(block_bytes), share_(share), loops_(loops) {}

  Placement run() {
    result_.homes.resize(program_.buffers.size());
    place_hbm();
    std::vector<int32_t> own;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const bool used = structure_.last_use[i] >= structure_.first_use[i];
      if (program_.buffers[i].space == Space::Hbm || !used) continue;
      const int32_t home = structure_.home[i];
      (home < 0 ? own : loops_[static_cast<size_t>(home)].own_buffers).push_back(static_cast<int32_t>(i));
    }
    result_.scratch_bytes = place_loops(program_.body, place_tiles(own, hbm_bytes_));
    return std::move(result_);
  }

 private:
  void place_hbm() {
    int64_t end = 0;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      Home& home = result_.homes[i];
      home.index = buffer.index;
      home.bytes = buffer.partitions * buffer.elements * size_of(buffer.dtype);
      if (block_bytes_[i] > 0) home.bytes = block_bytes_[i];
      if (buffer.space != Space::Hbm) continue;
      switch (buffer.role) {
        case Role::Parameter: home.kind = Home::Kind::Parameter; break;
        case Role::Result: home.kind = Home::Kind::Result; break;
        case Role::Constant: home.kind = Home::Kind::Constant; break;
        case Role::Internal: home.kind = Home::Kind::Hbm; break;
      }
      if (buffer.role != Role::Internal || buffer.address < 0) continue;
      home.offset = buffer.address;
      end = std::max(end, home.offset + home.bytes);
    }
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (result_.homes[i].kind != Home::Kind::Hbm || program_.buffers[i].address >= 0) continue;
      end = aligned(end);
      result_.homes[i].offset = end;
      end += result_.homes[i].bytes;
    }
    hbm_bytes_ = aligned(end);
  }

  int64_t place_tiles(const std::vector<int32_t>& buffers, int64_t base) {
    for (const int32_t id : buffers) {
      Home& home = result_.homes[static_cast<size_t>(id)];
      home.offset = array_offset(base, home.bytes);
      base = home.offset + aligned(home.bytes);
    }
    return base;
  }

  // Loops of one body run one after the other, so that they may all begin at the same place. Returns the highest end.
  int64_t place_loops(const std::vector<Statement>& body, int64_t base) {
    int64_t highest = base;
    for (const Statement& statement : body) {
      if (statement.loop < 0) continue;
      LoopPlan& loop = loops_[static_cast<size_t>(statement.loop)];
      loop.memory_begin = array_offset(share_ ? base : highest, kPage);
      const int64_t inner = place_tiles(loop.own_buffers, loop.memory_begin);
      loop.memory_end = place_loops(program_.loops[static_cast<size_t>(statement.loop)].body, inner);
      highest = std::max(highest, loop.memory_end);
    }
    return highest;
  }

  const Program& program_;
  Structure structure_;
  const std::vector<int64_t>& block_bytes_;
  bool share_;
  std::vector<LoopPlan>& loops_;
  int64_t hbm_bytes_ = 0;
  Placement result_;
};

}  // namespace

Placement place_buffers(const Program& program, const std::vector<int64_t>& block_bytes, bool share,
                        std::vector<LoopPlan>& loops) {
  return Placer(program, block_bytes, share, loops).run();
}

}  // namespace opentrn::neuroncore::emulator

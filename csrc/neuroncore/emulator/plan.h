// A prepared program: the tree of loops, with runs of instructions as leaves. Kernels of a run are made once for each
// case of the tails around it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "neuroncore/emulator.h"
#include "neuroncore/emulator/aliases.h"
#include "neuroncore/emulator/instructions/prepare.h"
#include "neuroncore/emulator/operand.h"
#include "neuroncore/emulator/product.h"
#include "neuroncore/emulator/strips.h"

namespace opentrn::neuroncore::emulator {

/// What a plan may do beyond executing one instruction after the other.
struct PlanOptions {
  bool check = false;
  bool optimise = false;  // copies left out, partitions in blocks
  bool parallel = false;
};

/// Kernels that are executed for one block of partitions after the other.
struct Strip {
  std::vector<Kernel> kernels;
  int64_t partitions = 1;  // or pieces of a product
  int64_t block = 1;
  bool splits = false;  // over threads, when they are free
};

struct Variant {
  std::vector<Strip> strips;
};

/// A run of instructions without a loop in between, or those of a whole matrix product.
struct Group {
  std::optional<Product> product;  // then there is one shape, for the buffers that are used
  std::vector<StripShape> shapes;
  std::vector<int64_t> work;        // of each strip: elements touched
  std::vector<int32_t> tail_loops;  // loops whose last iteration changes sizes; bit i of a variant's number
  mutable std::vector<std::atomic<const Variant*>> variants;
};

struct Node {
  int32_t loop = -1;   // of Plan::loops
  int32_t group = -1;  // of Plan::groups
};

struct LoopPlan {
  int64_t count = 0;
  bool independent = false;
  std::vector<Node> body;
  std::vector<int32_t> used_buffers;         // by anything inside
  std::vector<int32_t> own_buffers;          // on-chip buffers used nowhere else, not even in a nested loop alone
  int64_t memory_begin = 0, memory_end = 0;  // of the tiles used in this loop only
  int64_t work = 0;                          // elements touched by one iteration, roughly
};

/// Where a buffer's memory comes from.
struct Home {
  enum class Kind : uint8_t { Parameter, Result, Constant, Hbm, Tile } kind = Kind::Tile;
  int32_t index = 0;   // of the parameter, result or constant
  int64_t offset = 0;  // in the scratch memory
  int64_t bytes = 0;
};

class Plan {
 public:
  /// `program` has to outlive the plan.
  Plan(const Program& program, const PlanOptions& options);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// The program that is executed: the given one, or one with fewer copies. Without constants.
  const Program& program() const { return shortened_.program; }
  const std::vector<std::vector<std::byte>>& constants() const { return constants_; }
  /// What has to hold for a call; when it does not, a plan that is not optimised gives the right result.
  const std::vector<Assumption>& assumptions() const { return shortened_.assumptions; }
  const PlanOptions& options() const { return options_; }
  const std::vector<Node>& body() const { return body_; }
  const Group& group(int32_t id) const { return *groups_[static_cast<size_t>(id)]; }
  const LoopPlan& loop(int32_t id) const { return loops_[static_cast<size_t>(id)]; }
  const std::vector<Home>& homes() const { return homes_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  size_t parameters() const { return parameters_; }
  size_t results() const { return results_; }
  size_t counters() const { return loops_.size() + static_cast<size_t>(program().registers); }

  const Variant& variant(const Group& group, const int64_t* counters) const;

 private:
  std::vector<Node> add_body(const std::vector<Statement>& body);
  int32_t add_group(const std::vector<int32_t>& instructions);
  int32_t add_product(Product product);
  int32_t add(std::unique_ptr<Group> group);
  void note_tails(Group& group, const Access& access) const;
  void note_tails(Group& group, const Instruction& instruction) const;
  std::vector<int32_t> buffers_of(const std::vector<Node>& nodes) const;
  int64_t work_of(const std::vector<Node>& nodes) const;
  void place();
  void note_assumptions();
  const Variant& make_variant(const Group& group, size_t number) const;
  Variant prepare_variant(const Group& group, size_t number) const;
  Strip prepare_whole(const Product& product, int64_t work, const std::vector<uint8_t>& last) const;
  Strip prepare_strip(const StripShape& shape, int64_t work, const std::vector<uint8_t>& last) const;
  Request request_of(int32_t number, const std::vector<uint8_t>& last, bool whole) const;
  Operand operand_of(const Access& access, const std::vector<uint8_t>& last) const;

  Shortened shortened_;
  const std::vector<std::vector<std::byte>>& constants_;
  PlanOptions options_;
  std::vector<int32_t> uses_;  // by buffer
  std::vector<Node> body_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<LoopPlan> loops_;       // by number in the program
  std::vector<Home> homes_;           // by buffer
  std::vector<int64_t> block_bytes_;  // by buffer: of tiles that hold one block only, else 0
  int64_t scratch_bytes_ = 0;
  size_t parameters_ = 0, results_ = 0;
  mutable std::mutex preparing_;
  mutable std::vector<std::unique_ptr<const Variant>> prepared_;
};

/// Strips of less work than this stay on one thread.
inline constexpr int64_t kParallelWork = 32768;

/// Executes the plan. Addresses by Buffer::index.
void execute(const Plan& plan, std::span<const void* const> parameters, std::span<void* const> results);

/// The operand of an access, when the loops in `last` (by number) are in their last iteration.
Operand resolve(const Program& program, const Access& access, const std::vector<uint8_t>& last);

/// Elements an instruction touches, roughly, for deciding on threads.
int64_t touched_elements(const Instruction& instruction);

/// Places tiles and internal HBM buffers in the scratch memory; fills in the loops' ranges. Loops that do not nest
/// share memory if `share`. `block_bytes`: by buffer, the size where it is not that of the whole tile.
struct Placement {
  std::vector<Home> homes;
  int64_t scratch_bytes = 0;
};
Placement place_buffers(const Program& program, const std::vector<int64_t>& block_bytes, bool share,
                        std::vector<LoopPlan>& loops);

/// Raises an error when an operand leaves its buffer.
void check_bounds(const Program& program, int32_t instruction, const int64_t* counters);

}  // namespace opentrn::neuroncore::emulator

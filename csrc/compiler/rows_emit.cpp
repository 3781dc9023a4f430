// From a description to loop nests: which of them there are, and how each is cut into tiles.
#include <algorithm>
#include <utility>

#include "compiler/rows_instructions.h"

namespace opentrn::compiler::rows {

namespace {

using ir::Op;

constexpr int64_t kMostFreeElements = 2048;  // of a tile that could be of any size: enough to keep an engine busy
constexpr int64_t kFewRows = 64;             // less than half of the partitions
constexpr int64_t kManyElements = 16384;     // worth a second stage
constexpr int64_t kMostPieces = 2048;        // one row of results
constexpr int64_t kShortPiece = 128;

Line line_of(const Slot& slot, size_t rank) {
  const ir::View& view = slot.location.view;
  Line line{std::vector<int64_t>(rank, 0), view.offset / view.item_size()};
  for (size_t d = 0; d < slot.dimensions.size(); ++d) {
    if (slot.dimensions[d] >= 0) line.strides[static_cast<size_t>(slot.dimensions[d])] = view.strides[d];
  }
  return line;
}

Line iota_line(const Step& step, const Slot& result, size_t rank) {
  Line line{std::vector<int64_t>(rank, 0), 0};
  const int32_t d = result.dimensions[static_cast<size_t>(step.node->as<ir::IotaAttributes>().iota_dimension)];
  if (d >= 0) line.strides[static_cast<size_t>(d)] = 1;
  return line;
}

// One line for each access, those of stores first: they have the first word in the order of the dimensions.
Nest make_nest(Description& description) {
  Nest nest;
  const size_t rank = description.space.size();
  for (size_t d = 0; d < rank; ++d) {
    nest.dimensions.push_back(
        {.size = description.space[d], .reduced = (description.reduced >> d & 1) != 0, .sources = uint64_t{1} << d});
  }
  const auto add = [&](int32_t& number, Line line) {
    number = static_cast<int32_t>(nest.lines.size());
    nest.lines.push_back(std::move(line));
  };
  for (Slot& slot : description.slots) {
    if (slot.stored) add(slot.line, line_of(slot, rank));
  }
  for (Slot& slot : description.slots) {
    if (slot.kind == Slot::Kind::Load) add(slot.line, line_of(slot, rank));
  }
  for (Step& step : description.steps) {
    if (step.node->op != Op::Iota) continue;
    add(step.line, iota_line(step, description.slots[static_cast<size_t>(step.result)], rank));
  }
  return nest;
}

Nest without_reduced(Nest nest) {
  for (NestDimension& dimension : nest.dimensions) {
    if (dimension.reduced) dimension.size = 1;
  }
  return nest;
}

class RunEmitter {
 public:
  RunEmitter(Emitter& emitter, Description& description)
      : emitter_(emitter), description_(description), nest_(make_nest(description)) {}

  void emit() {
    const bool nothing = nest_.kept() == 0;
    const bool no_data = description_.has_reduction() && nest_.reduced() == 0;
    if (nothing) return;
    if (no_data) nest_ = without_reduced(std::move(nest_));
    normalise(nest_);
    if (no_data) return emit_without_data();
    if (!description_.has_reduction()) {
      return emit_at_once(cut(nest_, limits(std::min(kMostFreeElements, most(2)))), 2);
    }
    const bool multi_stage = is_multi_stage(description_);
    if (!multi_stage && nest_.kept() < kFewRows && nest_.reduced() >= kManyElements) return emit_in_pieces();
    for (const int copies : {2, 1}) {
      if (nest_.reduced() > most(copies)) continue;
      const std::vector<Nest> nests = cut(nest_, limits(most(copies)));
      if (std::any_of(nests.begin(), nests.end(), is_chunked)) break;
      return emit_at_once(nests, copies);
    }
    for (const Nest& nest : cut(nest_, limits(std::min(2 * kMostFreeElements, most(2))))) {
      rows::emit_staged({emitter_, description_, nest, 2});
    }
  }

 private:
  int64_t most(int copies) const { return most_elements(emitter_.machine(), description_, copies); }

  TileLimits limits(int64_t elements) const {
    return {.partitions = emitter_.machine().partitions, .most_elements = elements};
  }

  void emit_at_once(const std::vector<Nest>& nests, int copies) {
    for (const Nest& nest : nests) rows::emit_at_once({emitter_, description_, nest, copies});
  }

  void emit_without_data() {
    for (const Nest& nest : cut(std::move(nest_), limits(kMostFreeElements))) {
      rows::emit_without_data({emitter_, description_, nest, 1});
    }
  }

  // Few long rows: each is cut into pieces that are reduced side by side, and their results after that.
  void emit_in_pieces() {
    size_t longest = 0;
    for (size_t d = 0; d < nest_.dimensions.size(); ++d) {
      const NestDimension& best = nest_.dimensions[longest];
      const NestDimension& dimension = nest_.dimensions[d];
      if (dimension.reduced && (!best.reduced || dimension.size >= best.size)) longest = d;
    }
    const int64_t size = nest_.dimensions[longest].size;
    const int64_t room = std::min(kMostFreeElements, most(2));
    const int64_t all = nest_.reduced();
    const int64_t length = std::max(size / kMostPieces, (kShortPiece * size + all - 1) / all);
    const int64_t pieces = (size + length - 1) / length;
    const std::vector<Partials> partials = make_partials(pieces);
    Nest main = folded(nest_, longest, length);
    main.dimensions[longest].reduced = false;
    emit_pieces(std::move(main), room, partials, longest, 0);
    if (size % length != 0) {
      Nest rest = folded(remainder(nest_, longest, length), longest, size % length);
      rest.dimensions[longest].reduced = false;
      emit_pieces(std::move(rest), room, partials, longest, size / length);
    }
    Nest combination = nest_;
    for (size_t d = 0; d < combination.dimensions.size(); ++d) {
      NestDimension& dimension = combination.dimensions[d];
      if (dimension.reduced) dimension.size = d == longest ? pieces : 1;
    }
    for (const Nest& nest : cut(std::move(combination), limits(std::max<int64_t>(pieces, kMostFreeElements)))) {
      rows::emit_combined({emitter_, description_, nest, 1}, partials, longest);
    }
  }

  void emit_pieces(Nest nest, int64_t room, const std::vector<Partials>& partials, size_t dimension,
                   int64_t first_piece) {
    for (const Nest& one : cut(std::move(nest), limits(room))) {
      rows::emit_partial({emitter_, description_, one, 2}, partials, dimension, first_piece);
    }
  }

  std::vector<Partials> make_partials(int64_t pieces) {
    std::vector<Partials> partials;
    for (const Step& step : description_.steps) {
      if (!is_reduction(description_, step)) continue;
      const DType dtype = accumulation_dtype(step.operands[0].dtype);
      partials.push_back({emitter_.program().hbm(dtype, nest_.kept() * pieces), pieces});
    }
    return partials;
  }

  Emitter& emitter_;
  Description& description_;
  Nest nest_;
};

}  // namespace

int64_t most_elements(const neuroncore::Machine& machine, const Description& description, int copies) {
  int64_t bytes = 0;
  for (const Tile& tile : description.tiles) {
    const bool grows = description.has_reduction() ? (tile.varies & description.reduced) != 0 : tile.varies != 0;
    if (grows) bytes += size_of(tile.dtype) * (tile.in_flight ? copies : 1);
  }
  // An eighth is left for rows.
  return std::max<int64_t>(1, machine.sbuf_bytes_per_partition / 8 * 7 / std::max<int64_t>(1, bytes));
}

// Whatever the dimensions turn out to be joined to.
bool rows_fit(const neuroncore::Machine& machine, const Description& description) {
  int64_t elements = 1;
  size_t dimensions = 0;
  for (size_t d = 0; d < description.space.size(); ++d) {
    if ((description.reduced >> d & 1) == 0 || description.space[d] == 1) continue;
    elements *= description.space[d];
    ++dimensions;
  }
  return dimensions <= TileLimits{}.most_free_dimensions && elements <= most_elements(machine, description, 1);
}

void emit(Emitter& emitter, Description& description) { RunEmitter(emitter, description).emit(); }

}  // namespace opentrn::compiler::rows

#include <algorithm>
#include <vector>

#include "lowering/families.h"

namespace opentrn::lowering {
namespace {

std::vector<Rule> collect() {
  std::vector<Rule> all;
  for (const auto family : {
           activation_backward_rules,
           activation_rules,
           adaptive_pooling_rules,
           arithmetic_rules,
           batch_norm_rules,
           comparison_rules,
           convolution_rules,
           copy_rules,
           creation_rules,
           data_dependent_rules,
           divisor_rules,
           dropout_rules,
           fourier_rules,
           index_update_rules,
           indexing_rules,
           linear_algebra_rules,
           loss_rules,
           math_rules,
           matmul_rules,
           movement_rules,
           normalization_rules,
           optimizer_rules,
           padding_rules,
           patch_rules,
           pooling_rules,
           random_choice_rules,
           random_rules,
           recurrent_rules,
           reduction_rules,
           scan_rules,
           scatter_rules,
           search_rules,
           selection_rules,
           softmax_rules,
           sorting_rules,
           upsampling_rules,
       }) {
    const std::span<const Rule> rules = family();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  std::sort(all.begin(), all.end(), [](const Rule& left, const Rule& right) { return left.name < right.name; });
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1].name != all[i].name) continue;
    raise(ErrorKind::Internal, {.where = std::string(all[i].name), .what = "two lowering rules have this name"});
  }
  return all;
}

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> all = collect();
  return all;
}

const Rule* find_rule(std::string_view name) {
  const std::span<const Rule> all = rules();
  const auto found = std::lower_bound(all.begin(), all.end(), name,
                                      [](const Rule& rule, std::string_view wanted) { return rule.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

}  // namespace opentrn::lowering

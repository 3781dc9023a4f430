// The families of rules; one file each.
#pragma once

#include <span>

#include "lowering/rule.h"

namespace opentrn::lowering {

std::span<const Rule> activation_rules();
std::span<const Rule> activation_backward_rules();
std::span<const Rule> adaptive_pooling_rules();
std::span<const Rule> arithmetic_rules();
std::span<const Rule> batch_norm_rules();
std::span<const Rule> comparison_rules();
std::span<const Rule> convolution_rules();
std::span<const Rule> copy_rules();
std::span<const Rule> creation_rules();
std::span<const Rule> data_dependent_rules();
std::span<const Rule> divisor_rules();
std::span<const Rule> dropout_rules();
std::span<const Rule> fourier_rules();
std::span<const Rule> index_update_rules();
std::span<const Rule> indexing_rules();
std::span<const Rule> linear_algebra_rules();
std::span<const Rule> loss_rules();
std::span<const Rule> math_rules();
std::span<const Rule> matmul_rules();
std::span<const Rule> movement_rules();
std::span<const Rule> normalization_rules();
std::span<const Rule> optimizer_rules();
std::span<const Rule> padding_rules();
std::span<const Rule> pooling_rules();
std::span<const Rule> patch_rules();
std::span<const Rule> random_rules();
std::span<const Rule> random_choice_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> reduction_rules();
std::span<const Rule> scan_rules();
std::span<const Rule> scatter_rules();
std::span<const Rule> search_rules();
std::span<const Rule> selection_rules();
std::span<const Rule> softmax_rules();
std::span<const Rule> sorting_rules();
std::span<const Rule> upsampling_rules();

}  // namespace opentrn::lowering

// Attributes of convolution, fft, select_and_scatter and triangular_solve.
#include "base/error.h"
#include "ir/text/printer.h"

namespace opentrn::ir::text {

namespace {

// "[b, 0, 1, f]": what each dimension of one side is.
std::string print_side(int64_t first, char first_letter, int64_t second, char second_letter, const Dims& spatial) {
  std::vector<std::string> words(spatial.size() + 2);
  words[static_cast<size_t>(first)] = first_letter;
  words[static_cast<size_t>(second)] = second_letter;
  for (size_t i = 0; i < spatial.size(); ++i) words[static_cast<size_t>(spatial[i])] = std::to_string(i);
  std::string text = "[";
  for (size_t i = 0; i < words.size(); ++i) text += (i > 0 ? ", " : "") + words[i];
  return text + "]";
}

std::string_view fft_name(FftType type) {
  switch (type) {
    case FftType::Fft: return "FFT";
    case FftType::Ifft: return "IFFT";
    case FftType::Rfft: return "RFFT";
    case FftType::Irfft: return "IRFFT";
  }
  __builtin_unreachable();
}

std::string_view transpose_name(TransposeA transpose) {
  switch (transpose) {
    case TransposeA::NoTranspose: return "NO_TRANSPOSE";
    case TransposeA::Transpose: return "TRANSPOSE";
    case TransposeA::Adjoint: return "ADJOINT";
  }
  __builtin_unreachable();
}

}  // namespace

std::string_view print_flag(bool value) { return value ? "true" : "false"; }

std::string array_clause(std::string_view key, const Dims& values) {
  return concat(", ", key, " = array<i64", values.empty() ? "" : ": ", print_items(values), ">");
}

std::string print_pairs(const Dims& first, const Dims& second) {
  std::string pairs;
  for (size_t i = 0; i < first.size(); ++i) pairs += concat(i > 0 ? ", " : "", "[", first[i], ", ", second[i], "]");
  return "[" + pairs + "]";
}

std::string print_convolution(const ConvolutionAttributes& a) {
  std::string reversal;
  for (size_t i = 0; i < a.window_reversal.size(); ++i)
    reversal += concat(i > 0 ? ", " : "", a.window_reversal[i] ? 1 : 0);
  return concat(
      "dim_numbers = ",
      print_side(a.input_batch_dimension, 'b', a.input_feature_dimension, 'f', a.input_spatial_dimensions), "x",
      print_side(a.kernel_input_feature_dimension, 'i', a.kernel_output_feature_dimension, 'o',
                 a.kernel_spatial_dimensions),
      "->", print_side(a.output_batch_dimension, 'b', a.output_feature_dimension, 'f', a.output_spatial_dimensions),
      ", window = {stride = ", print_list(a.window_strides), ", pad = ", print_pairs(a.padding_low, a.padding_high),
      ", lhs_dilate = ", print_list(a.lhs_dilation), ", rhs_dilate = ", print_list(a.rhs_dilation), ", reverse = [",
      reversal, "]} {batch_group_count = ", a.batch_group_count,
      " : i64, feature_group_count = ", a.feature_group_count,
      " : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}");
}

std::string print_fft(const FftAttributes& a) {
  return concat(", type = ", fft_name(a.type), ", length = ", print_list(a.fft_length));
}

std::string print_triangular(const TriangularSolveAttributes& a) {
  return concat("<{left_side = ", print_flag(a.left_side), ", lower = ", print_flag(a.lower),
                ", transpose_a = #stablehlo<transpose ", transpose_name(a.transpose_a),
                ">, unit_diagonal = ", print_flag(a.unit_diagonal), "}>");
}

std::string print_select_and_scatter(const SelectAndScatterAttributes& a) {
  return concat("padding = dense<", a.padding_low.empty() ? "" : print_pairs(a.padding_low, a.padding_high),
                "> : tensor<", a.padding_low.size(), "x2xi64>", array_clause("window_dimensions", a.window_dimensions),
                array_clause("window_strides", a.window_strides));
}

}  // namespace opentrn::ir::text

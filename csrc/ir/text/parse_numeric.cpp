// Attributes of convolution, fft, reduce_precision and triangular_solve.
#include <charconv>

#include "base/error.h"
#include "ir/text/parser.h"

namespace opentrn::ir::text {

namespace {

void convolution_numbers(AttributeMap numbers, ConvolutionAttributes& a) {
  a.input_batch_dimension = numbers.take_integer("input_batch_dimension");
  a.input_feature_dimension = numbers.take_integer("input_feature_dimension");
  a.input_spatial_dimensions = numbers.take_list_or("input_spatial_dimensions", {});
  a.kernel_input_feature_dimension = numbers.take_integer("kernel_input_feature_dimension");
  a.kernel_output_feature_dimension = numbers.take_integer("kernel_output_feature_dimension");
  a.kernel_spatial_dimensions = numbers.take_list_or("kernel_spatial_dimensions", {});
  a.output_batch_dimension = numbers.take_integer("output_batch_dimension");
  a.output_feature_dimension = numbers.take_integer("output_feature_dimension");
  a.output_spatial_dimensions = numbers.take_list_or("output_spatial_dimensions", {});
  numbers.expect_empty();
}

// The window as the pretty form writes it, and its attributes of the generic form under their own names.
void convolution_window(AttributeMap& attributes, ConvolutionAttributes& a) {
  const size_t rank = a.input_spatial_dimensions.size();
  if (attributes.has("window")) {
    AttributeMap window = attributes.take_fields("window");
    a.window_strides = window.take_list_or("stride", Dims(rank, 1));
    a.lhs_dilation = window.take_list_or("lhs_dilate", Dims(rank, 1));
    a.rhs_dilation = window.take_list_or("rhs_dilate", Dims(rank, 1));
    const Dims reversal = window.take_list_or("reverse", Dims(rank, 0));
    a.window_reversal.assign(reversal.begin(), reversal.end());
    split_padding(window, "pad", rank, a.padding_low, a.padding_high);
    return window.expect_empty();
  }
  a.window_strides = attributes.take_list_or("window_strides", Dims(rank, 1));
  a.lhs_dilation = attributes.take_list_or("lhs_dilation", Dims(rank, 1));
  a.rhs_dilation = attributes.take_list_or("rhs_dilation", Dims(rank, 1));
  const Dims reversal = attributes.take_list_or("window_reversal", Dims(rank, 0));
  a.window_reversal.assign(reversal.begin(), reversal.end());
  split_padding(attributes, "padding", rank, a.padding_low, a.padding_high);
}

}  // namespace

// "e5m10"
ReducePrecisionAttributes precision_attributes(AttributeMap& attributes) {
  if (attributes.has("exponent_bits")) {
    return {attributes.take_integer("exponent_bits"), attributes.take_integer("mantissa_bits")};
  }
  const std::string format = attributes.take_word("format");
  ReducePrecisionAttributes a;
  const char* end = format.data() + format.size();
  const size_t middle = format.find('m');
  if (format.starts_with('e') && middle != std::string::npos) {
    const auto exponent = std::from_chars(format.data() + 1, end, a.exponent_bits);
    const auto mantissa = std::from_chars(format.data() + middle + 1, end, a.mantissa_bits);
    if (exponent.ptr == format.data() + middle && mantissa.ptr == end) return a;
  }
  attributes.fail("a format is not understood", "'" + format + "'", "e<bits>m<bits>");
}

FftAttributes fft_attributes(AttributeMap& attributes) {
  const std::string type = attributes.take_word(attributes.spelling({"fft_type", "type"}));
  const Dims length = list_named(attributes, {"fft_length", "length"});
  if (type == "FFT") return {FftType::Fft, length};
  if (type == "IFFT") return {FftType::Ifft, length};
  if (type == "RFFT") return {FftType::Rfft, length};
  if (type == "IRFFT") return {FftType::Irfft, length};
  attributes.fail("unknown type of transform", type, "FFT, IFFT, RFFT or IRFFT");
}

TriangularSolveAttributes triangular_attributes(AttributeMap& attributes) {
  TriangularSolveAttributes a;
  a.left_side = attributes.take_flag_or("left_side", false);
  a.lower = attributes.take_flag_or("lower", false);
  a.unit_diagonal = attributes.take_flag_or("unit_diagonal", false);
  const std::string word = attributes.take_word("transpose_a");
  if (word == "TRANSPOSE") a.transpose_a = TransposeA::Transpose;
  if (word == "ADJOINT") a.transpose_a = TransposeA::Adjoint;
  if (a.transpose_a == TransposeA::NoTranspose && word != "NO_TRANSPOSE") {
    attributes.fail("unknown transposition", word, "NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  return a;
}

ConvolutionAttributes convolution_attributes(AttributeMap& attributes) {
  ConvolutionAttributes a;
  convolution_numbers(attributes.take_fields(attributes.spelling({"dimension_numbers", "dim_numbers"})), a);
  convolution_window(attributes, a);
  a.feature_group_count = attributes.take_integer_or("feature_group_count", 1);
  a.batch_group_count = attributes.take_integer_or("batch_group_count", 1);
  for (const char* key : {"precision", "precision_config"}) attributes.drop(key);
  return a;
}

}  // namespace opentrn::ir::text

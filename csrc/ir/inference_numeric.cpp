// Matrices and signals: cholesky, convolution, fft, triangular_solve.
#include <algorithm>

#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

void require_inexact(Op op, size_t index, const TensorType& type) {
  if (is_float(type.dtype) || is_complex(type.dtype)) return;
  refuse(op, operand_name(index) + " has a wrong element type", to_string(type), "float or complex elements");
}

void require_square(Op op, const TensorType& type) {
  const size_t rank = type.shape.size();
  if (rank >= 2 && type.shape[rank - 1] == type.shape[rank - 2]) return;
  refuse(op, "operand 0 has a wrong shape", to_string(type), "square matrices in the last two dimensions");
}

TensorType infer_cholesky(const InferenceQuery& query) {
  attributes_of<CholeskyAttributes>(query);
  require_inexact(query.op, 0, *query.operands[0]);
  require_square(query.op, *query.operands[0]);
  return *query.operands[0];
}

TensorType infer_triangular_solve(const InferenceQuery& query) {
  const TensorType& a = *query.operands[0];
  const TensorType& b = *query.operands[1];
  const bool left_side = attributes_of<TriangularSolveAttributes>(query).left_side;
  require_inexact(query.op, 0, a);
  require_square(query.op, a);
  const size_t rank = a.shape.size();
  bool fits = b.dtype == a.dtype && b.shape.size() == rank;
  if (fits) fits = std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin());
  if (fits) fits = b.shape[left_side ? rank - 2 : rank - 1] == a.shape[rank - 1];
  if (!fits) {
    refuse(
        query.op, "operand 1 does not fit operand 0", to_string(b),
        concat("matrices with ", a.shape[rank - 1], left_side ? " rows" : " columns", ", batched like ", to_string(a)));
  }
  return b;
}

TensorType infer_fft(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const auto& [type, length] = attributes_of<FftAttributes>(query);
  if (length.empty() || length.size() > 3 || length.size() > operand.shape.size()) {
    refuse(query.op, "fft_length has a wrong length", opentrn::to_string(length),
           concat("1 to 3 entries, and at most ", operand.rank()));
  }
  const bool from_real = type == FftType::Rfft;
  const bool to_real = type == FftType::Irfft;
  const bool fits = from_real ? operand.dtype == DType::F32 || operand.dtype == DType::F64
                              : operand.dtype == DType::C64 || operand.dtype == DType::C128;
  if (!fits) {
    refuse(query.op, "operand 0 has a wrong element type", to_string(operand),
           from_real ? "f32 or f64 elements" : "complex<f32> or complex<f64> elements");
  }
  const size_t first = operand.shape.size() - length.size();
  TensorType result = operand;
  for (size_t i = 0; i < length.size(); ++i) {
    const bool halved = i + 1 == length.size() && to_real;
    const int64_t size = operand.shape[first + i];
    if (size != (halved ? length[i] / 2 + 1 : length[i]) && operand.elements() != 0) {
      refuse(query.op, concat("dimension ", first + i, " of operand 0 does not fit fft_length"), to_string(operand),
             opentrn::to_string(length));
    }
  }
  if (from_real) {
    result.dtype = operand.dtype == DType::F32 ? DType::C64 : DType::C128;
    result.shape.back() = length.back() == 0 ? 0 : length.back() / 2 + 1;
  }
  if (to_real) {
    result.dtype = real_dtype(operand.dtype);
    result.shape.back() = length.back();
  }
  return result;
}

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

void require_window(Op op, const ConvolutionAttributes& a) {
  const size_t spatial = a.input_spatial_dimensions.size();
  require_length(op, "kernel_spatial_dimensions", a.kernel_spatial_dimensions, spatial);
  require_length(op, "output_spatial_dimensions", a.output_spatial_dimensions, spatial);
  require_length(op, "window_strides", a.window_strides, spatial);
  require_length(op, "padding_low", a.padding_low, spatial);
  require_length(op, "padding_high", a.padding_high, spatial);
  require_length(op, "lhs_dilation", a.lhs_dilation, spatial);
  require_length(op, "rhs_dilation", a.rhs_dilation, spatial);
  require_length(op, "window_reversal", Dims(a.window_reversal.begin(), a.window_reversal.end()), spatial);
  require_positive(op, "window_strides", a.window_strides);
  require_positive(op, "lhs_dilation", a.lhs_dilation);
  require_positive(op, "rhs_dilation", a.rhs_dilation);
  require_positive(op, "feature_group_count and batch_group_count", {a.feature_group_count, a.batch_group_count});
  if (a.feature_group_count > 1 && a.batch_group_count > 1) {
    refuse(op, "both group counts are greater than 1", concat(a.feature_group_count, " and ", a.batch_group_count),
           "feature_group_count or batch_group_count of 1");
  }
}

void require_numbers(Op op, std::string_view which, int64_t first, int64_t second, const Dims& spatial, size_t rank) {
  Dims all{first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  require_length(op, concat("the dimension numbers of the ", which), all, rank);
  require_dimensions(op, concat("the dimension numbers of the ", which), all, static_cast<int64_t>(rank));
}

void require_groups(const InferenceQuery& query, const ConvolutionAttributes& a) {
  const TensorType& input = *query.operands[0];
  const TensorType& kernel = *query.operands[1];
  const int64_t batch = at(input.shape, a.input_batch_dimension);
  const int64_t features = at(input.shape, a.input_feature_dimension);
  const int64_t kernel_features = at(kernel.shape, a.kernel_input_feature_dimension);
  const int64_t outputs = at(kernel.shape, a.kernel_output_feature_dimension);
  if (features != kernel_features * a.feature_group_count) {
    refuse(query.op, "the input has a wrong number of features", std::to_string(features),
           concat(kernel_features, " of the kernel in ", a.feature_group_count, " groups"));
  }
  if (outputs % a.feature_group_count != 0 || outputs % a.batch_group_count != 0) {
    refuse(query.op, "the output features do not divide into the groups", std::to_string(outputs),
           concat("a multiple of ", std::max(a.feature_group_count, a.batch_group_count)));
  }
  if (batch % a.batch_group_count != 0) {
    refuse(query.op, "the batch does not divide into the groups", std::to_string(batch),
           concat("a multiple of ", a.batch_group_count));
  }
}

TensorType infer_convolution(const InferenceQuery& query) {
  const TensorType& input = *query.operands[0];
  const TensorType& kernel = *query.operands[1];
  const auto& a = attributes_of<ConvolutionAttributes>(query);
  const size_t rank = a.input_spatial_dimensions.size() + 2;
  const DType dtype = declared_type(query).dtype;
  if (kernel.dtype != input.dtype || is_bool(input.dtype)) {
    refuse(query.op, "the operands have wrong element types", concat(to_string(input), " and ", to_string(kernel)),
           "the same type of number", "convert them first");
  }
  if (category(dtype) != category(input.dtype) || size_of(dtype) < size_of(input.dtype)) {
    refuse(query.op, "the result has a wrong element type", concat(name(dtype), " from ", name(input.dtype)),
           "that of the operands, or a wider one of the same kind");
  }
  require_window(query.op, a);
  require_length(query.op, "the shape of operand 0", input.shape, rank);
  require_length(query.op, "the shape of operand 1", kernel.shape, rank);
  require_numbers(query.op, "input", a.input_batch_dimension, a.input_feature_dimension, a.input_spatial_dimensions,
                  rank);
  require_numbers(query.op, "kernel", a.kernel_input_feature_dimension, a.kernel_output_feature_dimension,
                  a.kernel_spatial_dimensions, rank);
  require_numbers(query.op, "output", a.output_batch_dimension, a.output_feature_dimension, a.output_spatial_dimensions,
                  rank);
  require_groups(query, a);
  TensorType result{dtype, Dims(rank, 0)};
  const auto set = [&](int64_t dimension, int64_t size) { result.shape[static_cast<size_t>(dimension)] = size; };
  set(a.output_batch_dimension, at(input.shape, a.input_batch_dimension) / a.batch_group_count);
  set(a.output_feature_dimension, at(kernel.shape, a.kernel_output_feature_dimension));
  for (size_t i = 0; i + 2 < rank; ++i) {
    const int64_t padded = a.padding_low[i] +
                           dilated(at(input.shape, a.input_spatial_dimensions[i]), a.lhs_dilation[i]) +
                           a.padding_high[i];
    const int64_t window = dilated(at(kernel.shape, a.kernel_spatial_dimensions[i]), a.rhs_dilation[i]);
    const bool none = padded <= 0 || padded < window;
    set(a.output_spatial_dimensions[i], none ? 0 : (padded - window) / a.window_strides[i] + 1);
  }
  return result;
}

}  // namespace

TensorType infer_numeric(const InferenceQuery& query) {
  switch (query.op) {
    case Op::Cholesky: return infer_cholesky(query);
    case Op::Convolution: return infer_convolution(query);
    case Op::Fft: return infer_fft(query);
    default: return infer_triangular_solve(query);
  }
}

}  // namespace opentrn::ir

// Convolution: windows of the input against the kernel, all output features of a place at once.
#include <algorithm>

#include "engines/reference/wide.h"

namespace opentrn::engines::reference {

namespace {

using Attributes = ir::ConvolutionAttributes;

int64_t at(const Dims& dims, int64_t index) { return dims[static_cast<size_t>(index)]; }

Dims joined(int64_t first, const Dims& middle, int64_t last) {
  Dims result{first};
  result.insert(result.end(), middle.begin(), middle.end());
  result.push_back(last);
  return result;
}

Dims sizes_of(const View& view, const Dims& dimensions) {
  Dims sizes;
  for (const int64_t dimension : dimensions) sizes.push_back(at(view.shape, dimension));
  return sizes;
}

/// Input as [batch, space, features], kernel as [space, features of a group, output features], output as [batch, space,
/// output features].
struct Convolution {
  Attributes a;
  WideCopy input, kernel, output;
  Dims input_space, kernel_space, output_space;
  int64_t batch = 0, features = 0, group_features = 0, outputs = 0;

  // The element of the input's space under element `window` of the window at `place`, or -1.
  int64_t find(const Dims& place, const Dims& window) const {
    int64_t position = 0;
    for (size_t i = 0; i < place.size(); ++i) {
      const int64_t dilated = place[i] * a.window_strides[i] + window[i] * a.rhs_dilation[i] - a.padding_low[i];
      if (dilated < 0 || dilated % a.lhs_dilation[i] != 0) return -1;
      const int64_t element = dilated / a.lhs_dilation[i];
      if (element >= input_space[i]) return -1;
      position = position * input_space[i] + element;
    }
    return position;
  }

  int64_t kernel_position(const Dims& window) const {
    int64_t position = 0;
    for (size_t i = 0; i < window.size(); ++i) {
      const int64_t element = a.window_reversal[i] ? kernel_space[i] - 1 - window[i] : window[i];
      position = position * kernel_space[i] + element;
    }
    return position;
  }

  // Adds one window element's products for the output features [begin, end), which all read `from`.
  template <typename T>
  void add_products(const T* from, const T* weights, int64_t begin, int64_t end, T* sums) const {
    for (int64_t feature = 0; feature < group_features; ++feature) {
      const T value = from[feature];
      const T* row = weights + feature * outputs;
      for (int64_t i = begin; i < end; ++i) sums[i] += value * row[i];
    }
  }

  template <typename T>
  void add_window(const T* in, const T* weights, int64_t n, int64_t position, T* sums) const {
    const int64_t space = element_count(input_space);
    const int64_t batches = batch / a.batch_group_count;
    const int64_t groups = a.feature_group_count * a.batch_group_count;  // one of the two is 1
    const int64_t group_outputs = outputs / groups;
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t of_batch = a.batch_group_count > 1 ? group * batches + n : n;
      const int64_t first_feature = a.feature_group_count > 1 ? group * group_features : 0;
      add_products(in + (of_batch * space + position) * features + first_feature, weights, group * group_outputs,
                   (group + 1) * group_outputs, sums);
    }
  }

  template <typename T>
  void run(std::byte* const* operands, std::byte* const* results) const {
    const std::vector<T> in = input.load<T>(operands[0]);
    const std::vector<T> weights = kernel.load<T>(operands[1]);
    const int64_t places = element_count(output_space);
    const int64_t count = batch / a.batch_group_count * places;
    std::vector<T> out(static_cast<size_t>(count * outputs), T{});
    const int64_t work = std::max<int64_t>(1, element_count(kernel_space) * group_features * outputs);
    parallel_for(0, count, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
      Dims place(output_space.size()), window(output_space.size());
      for (int64_t linear = begin; linear < end; ++linear) {
        int64_t rest = linear % places;
        for (size_t i = place.size(); i-- > 0; rest /= output_space[i]) place[i] = rest % output_space[i];
        T* sums = out.data() + linear * outputs;
        for (int64_t element = 0; element < element_count(kernel_space); ++element) {
          int64_t left = element;
          for (size_t i = window.size(); i-- > 0; left /= kernel_space[i]) window[i] = left % kernel_space[i];
          const int64_t position = find(place, window);
          if (position < 0) continue;
          add_window(in.data(), weights.data() + kernel_position(window) * group_features * outputs, linear / places,
                     position, sums);
        }
      }
    });
    output.store(out, results[0]);
  }
};

}  // namespace

Kernel convolution_kernel(const Problem& problem) {
  const auto& a = problem.node.as<Attributes>();
  const View& input = problem.operands[0];
  const View& kernel = problem.operands[1];
  const View& output = problem.results[0];
  Convolution convolution;
  convolution.a = a;
  convolution.input =
      WideCopy(input, joined(a.input_batch_dimension, a.input_spatial_dimensions, a.input_feature_dimension));
  Dims kernel_order = a.kernel_spatial_dimensions;
  kernel_order.push_back(a.kernel_input_feature_dimension);
  kernel_order.push_back(a.kernel_output_feature_dimension);
  convolution.kernel = WideCopy(kernel, kernel_order);
  convolution.output =
      WideCopy(output, joined(a.output_batch_dimension, a.output_spatial_dimensions, a.output_feature_dimension));
  convolution.input_space = sizes_of(input, a.input_spatial_dimensions);
  convolution.kernel_space = sizes_of(kernel, a.kernel_spatial_dimensions);
  convolution.output_space = sizes_of(output, a.output_spatial_dimensions);
  convolution.batch = at(input.shape, a.input_batch_dimension);
  convolution.features = at(input.shape, a.input_feature_dimension);
  convolution.group_features = at(kernel.shape, a.kernel_input_feature_dimension);
  convolution.outputs = at(kernel.shape, a.kernel_output_feature_dimension);
  const DType dtype = output.dtype;
  return [convolution, dtype](std::byte* const* operands, std::byte* const* results) {
    visit_wide(dtype, [&]<typename T>() { convolution.run<T>(operands, results); });
  };
}

}  // namespace opentrn::engines::reference

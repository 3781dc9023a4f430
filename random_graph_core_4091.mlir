module {
  func.func @main() -> tensor<26x2xui8> {
    %0 = stablehlo.constant dense<[[-3], [2], [-1], [-4], [1], [-1], [2], [2], [-3], [4], [2], [-2], [-3], [2], [-3], [-1], [0], [2], [1], [3], [-2], [-1], [4], [-1], [4], [4]]> : tensor<26x1xi32>
    %1 = stablehlo.constant dense<[[4, 2], [4, 2], [4, 2], [0, 4], [4, 2], [0, 4], [4, 2], [4, 2], [2, 0], [4, 0], [4, 2], [4, 2], [4, 0], [0, 4], [4, 2], [4, 0], [4, 2], [4, 2], [4, 2], [4, 2], [0, 4], [4, 2], [4, 2], [4, 2], [4, 2], [4, 2], [4, 2]]> : tensor<27x2xui8>
    %2 = stablehlo.reverse %1, dims = [0, 1] : tensor<27x2xui8>
    %3 = "stablehlo.gather"(%2, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<27x2xui8>, tensor<26x1xi32>) -> tensor<26x2xui8>
    return %3 : tensor<26x2xui8>
  }
}

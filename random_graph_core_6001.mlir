module {
  func.func @main() -> (tensor<0x1x4x513xf32>, tensor<0x1x4x513xi1>, tensor<1x0x513x4xf32>, tensor<0x1x4x513xi1>, tensor<f64>, tensor<0x1x4x513xi1>, tensor<1x1x1538x15xf32>) {
    %0 = stablehlo.constant dense<> : tensor<0x1x4x513xf32>
    %1 = stablehlo.constant dense<3> : tensor<i64>
    %2 = stablehlo.constant dense<> : tensor<0x1x4x513xf32>
    %3 = stablehlo.constant dense<> : tensor<0x1x4x513xi1>
    %4 = stablehlo.constant dense<> : tensor<0x1x4x513xi1>
    %5 = stablehlo.constant dense<-2.0> : tensor<f32>
    %6 = stablehlo.constant dense<> : tensor<0x1x4x513xi1>
    %7 = stablehlo.constant dense<3.0> : tensor<f32>
    %8 = stablehlo.constant dense<-2.0> : tensor<f32>
    %9 = stablehlo.clamp %8, %0, %7 : (tensor<f32>, tensor<0x1x4x513xf32>, tensor<f32>) -> tensor<0x1x4x513xf32>
    %10 = stablehlo.transpose %9, dims = [3, 1, 0, 2] : (tensor<0x1x4x513xf32>) -> tensor<513x1x0x4xf32>
    %11 = stablehlo.transpose %10, dims = [1, 2, 0, 3] : (tensor<513x1x0x4xf32>) -> tensor<1x0x513x4xf32>
    %12 = stablehlo.compare NE, %0, %0, FLOAT : (tensor<0x1x4x513xf32>, tensor<0x1x4x513xf32>) -> tensor<0x1x4x513xi1>
    %13 = stablehlo.convert %1 : (tensor<i64>) -> tensor<f64>
    %14 = stablehlo.select %4, %6, %6 : tensor<0x1x4x513xi1>, tensor<0x1x4x513xi1>
    %15 = stablehlo.pad %11, %5, low = [-1, 1, 0, 3], high = [1, 0, 1, 2], interior = [0, 0, 2, 2] : (tensor<1x0x513x4xf32>, tensor<f32>) -> tensor<1x1x1538x15xf32>
    return %2, %3, %11, %12, %13, %14, %15 : tensor<0x1x4x513xf32>, tensor<0x1x4x513xi1>, tensor<1x0x513x4xf32>, tensor<0x1x4x513xi1>, tensor<f64>, tensor<0x1x4x513xi1>, tensor<1x1x1538x15xf32>
  }
}

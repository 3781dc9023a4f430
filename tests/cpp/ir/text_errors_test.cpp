#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/text.h"
#include "tests/cpp/ir/samples.h"

namespace opentrn::ir {
namespace {

std::string message_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value) << error.what();
    return error.what();
  }
  return "nothing was raised";
}

// The message for one operation inside a function of two parameters.
std::string message_of_line(const std::string& operation) {
  return message_of("module {\n  func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {\n    " +
                    operation + "\n    return %a : tensor<2xf32>\n  }\n}\n");
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message << "\n  lacks: " << part;
}

TEST(TextErrors, NameLineAndColumn) {
  EXPECT_EQ(message_of_line("%0 = stablehlo.nothing %a : tensor<2xf32>"),
            "[line 3, column 10] unknown operation, got 'stablehlo.nothing', expected an operation of the catalogue");
  expect_part(message_of_line("%0 = stablehlo.add %a, %c : tensor<2xf32>"),
              "[line 3, column 28] a value is not defined here, got %c");
  expect_part(message_of(""),
              "[line 1, column 1] the text does not parse, got the end of the text, expected 'func.func'");
}

TEST(TextErrors, TypesAreChecked) {
  expect_part(message_of_line("%0 = stablehlo.add %a, %b : tensor<2xf32>"),
              "[line 3, column 10] [stablehlo.add] operand 1 has another type than operand 0");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<3xf32>"), "the result is written with a wrong type");
  expect_part(message_of_line("%0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi32>"),
              "operand 0 is written with a wrong type");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<?x?xf32>"),
              "written with a wrong type, got tensor<?x?xf32>, expected tensor<2xf32>");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<2xf33>"),
              "not understood, got '2xf33', expected an element type of the IR");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<2xf32"), "never closed");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<2xf3)\n%1 = stablehlo.abs %a : tensor<2xf32>>"),
              "got '2xf3)', expected");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<2xf32> \u00e9"), "got '\u00e9', expected");
  expect_part(message_of_line("%0 = stablehlo.abs %a : tensor<99999999999999999999xf32>"), "not understood");
}

TEST(TextErrors, AttributesAreChecked) {
  expect_part(message_of_line("%0 = stablehlo.transpose %a : (tensor<2xf32>) -> tensor<2xf32>"),
              "an attribute is missing");
  expect_part(message_of_line("%0 = stablehlo.abs %a, dims = [0] : tensor<2xf32>"), "unknown attribute, got 'dims'");
  expect_part(message_of_line("%0 = stablehlo.abs %a {odd = 1 : i64} : tensor<2xf32>"), "unknown attribute, got 'odd'");
  expect_part(message_of_line("%0 = stablehlo.reverse %a, dims = [0], dims = [0] : tensor<2xf32>"), "given twice");
  expect_part(message_of_line("%0 = stablehlo.compare LESS, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>"),
              "unknown comparison direction");
  expect_part(message_of_line("%0 = stablehlo.iota dim = 1.5 : tensor<2xf32>"), "'dim' is no integer");
  expect_part(message_of_line("%0 = stablehlo.custom_call @other(%a) : (tensor<2xf32>) -> tensor<2xf32>"),
              "unknown target");
}

TEST(TextErrors, ConstantsAreChecked) {
  const auto constant = [](const std::string& literal, const std::string& type) {
    return message_of_line("%0 = stablehlo.constant " + literal + " : " + type);
  };
  expect_part(constant("dense<[1, 2]>", "tensor<3xi32>"), "another shape than its type");
  expect_part(constant("dense<[[1, 2], [3]]>", "tensor<2x2xi32>"), "different lengths");
  expect_part(constant("dense<[[1], 2]>", "tensor<2x1xi32>"), "different depths");
  expect_part(constant("dense<300>", "tensor<i8>"), "does not fit the element type");
  expect_part(constant("dense<-1>", "tensor<ui8>"), "does not fit the element type");
  expect_part(constant("dense<1.5>", "tensor<i8>"), "does not fit the element type");
  expect_part(constant("dense<2>", "tensor<i1>"), "no bool");
  expect_part(constant("dense<true>", "tensor<f32>"), "no number");
  expect_part(constant("dense<0x7F80>", "tensor<f32>"), "wrong width");
  expect_part(constant("dense<\"0x010203\">", "tensor<2xi16>"), "wrong number of bytes");
  expect_part(constant("dense<\"0x0102\">", "tensor<3xi1>"), "wrong number of bytes");
  expect_part(constant("dense<(1.0, 2.0)>", "tensor<f32>"), "wrong number of bytes");
  expect_part(constant("dense<1.0>", "tensor<complex<f32>>"), "wrong number of bytes");
  expect_part(constant("dense<[1]>", "tensor<0xi32>"), "wrong number of bytes");
  expect_part(constant("dense<>", "tensor<2xi32>"), "wrong number of bytes");
}

TEST(TextErrors, RegionsAreChecked) {
  const auto window = [](const std::string& body) {
    return message_of_line(
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n    %0 = \"stablehlo.reduce_window\"(%a, %c) "
        "<{window_dimensions = array<i64: 1>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n" +
        body + "}) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>");
  };
  EXPECT_EQ(window("%z = stablehlo.add %y, %x : tensor<f32>\n stablehlo.return %z : tensor<f32>\n"),
            "nothing was raised");
  EXPECT_EQ(window("%z = stablehlo.subtract %x, %c : tensor<f32>\n stablehlo.return %z : tensor<f32>\n"),
            "nothing was raised");
  expect_part(window("%z = stablehlo.add %x, %w : tensor<f32>\n stablehlo.return %z : tensor<f32>\n"),
              "not defined here, got %w");
  expect_part(window("%z = stablehlo.is_finite %x : (tensor<f32>) -> tensor<i1>\n"
                     "stablehlo.return %z : tensor<i1>\n"),
              "the body returns wrong types, got (tensor<i1>), expected (tensor<f32>)");
  expect_part(message_of_line("%0 = \"stablehlo.sort\"(%a) <{dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf32>"),
              "wrong number of regions, got 0, expected 1");
  expect_part(message_of_line("%0 = stablehlo.while(%i = %a) : tensor<2xf32> cond { stablehlo.return %i : "
                              "tensor<2xf32> } do { stablehlo.return %i : tensor<2xf32> }"),
              "the condition returns wrong types");
}

TEST(TextErrors, CallsAreChecked) {
  const auto module = [](const std::string& call, const std::string& callee) {
    return message_of("module {\n func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n" + call +
                      "\n return %a : tensor<2xf32>\n }\n" + callee + "}");
  };
  const std::string same = " func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n";
  const std::string one = "(tensor<2xf32>) -> tensor<2xf32>";
  EXPECT_EQ(module("%0 = call @f(%a) : " + one, same), "nothing was raised");
  expect_part(module("%0 = call @g(%a) : " + one, same), "there is no such function, got @g");
  expect_part(module("%0 = call @f() : () -> tensor<2xf32>", same), "wrong number of arguments, got 0, expected 1");
  expect_part(module("%0 = call @f(%a) : (tensor<2xf32>) -> tensor<3xf32>", same), "written with a wrong type");
  expect_part(module("%0 = call @f(%a) : " + one,
                     " func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n %0 = call @f(%x) : " + one +
                         "\n return %0 : tensor<2xf32> }\n"),
              "a function calls itself, got @f");
  expect_part(module("%0 = call @f(%a) : " + one,
                     " func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }\n"),
              "a value is not defined here, got %a");
}

TEST(TextErrors, ShapesMustBeKnown) {
  const std::string dynamic = "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }";
  expect_part(message_of(dynamic), "a size is not known, got tensor<?xf32>");
  expect_part(message_of("func.func @main(%n: tensor<1xi32>, %a: tensor<f32>) -> tensor<?xf32> {\n"
                         "%0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [] : (tensor<f32>, tensor<1xi32>) -> "
                         "tensor<?xf32>\n return %0 : tensor<?xf32> }"),
              "a shape depends on values, got operand 1");
}

TEST(TextErrors, StructureIsChecked) {
  expect_part(message_of_line("%a = stablehlo.abs %a : tensor<2xf32>"), "defined twice");
  expect_part(message_of_line("%0, %1 = stablehlo.abs %a : tensor<2xf32>"), "fewer results than names");
  expect_part(message_of_line("%0 %1 = stablehlo.abs %a : tensor<2xf32>"), "expected '='");
  expect_part(message_of("func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> {\n return %a : tensor<2xf32>\n}"),
              "returns other types");
  expect_part(message_of("module {\n func.func @f() {\n return\n }\n func.func @g() {\n return\n }\n}"),
              "the module has no function to start with, got 2 functions, 2 of them not private");
  expect_part(message_of("func.func @f() {\n return\n} trailing"), "expected the end of the text");
  expect_part(message_of("func.func @\"f() {"), "a string is never closed");
}

// Whatever is cut off or broken, the parser raises its own error and nothing else happens.
TEST(TextErrors, BrokenTextNeverGetsThrough) {
  const std::vector<Graph> graphs = sample_graphs();
  for (size_t i = 0; i < graphs.size(); i += 7) {
    const std::string text = print(graphs[i]);
    for (size_t cut = 0; cut + 3 < text.size(); cut += 5) EXPECT_THROW(parse(text.substr(0, cut)), Error);
    for (size_t at = 0; at < text.size(); at += 3) {
      std::string broken = text;
      broken[at] = '!';
      try {
        parse(broken);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Value);
      }
    }
  }
}

}  // namespace
}  // namespace opentrn::ir

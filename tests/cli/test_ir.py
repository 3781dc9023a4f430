"""`opentrn ir` runs StableHLO text."""

import pytest

ADD = """module {
  func.func @main() -> tensor<3xf32> {
    %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
    %1 = stablehlo.add %0, %0 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
"""

CHECKED = """func.func @main() {{
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.multiply %0, %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[1, {second}]> : tensor<2xi32>
  return
}}
"""

PARAMETER = """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.sqrt %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.fixture
def ir(command, tmp_path):
    def run(text: str, *options: str):
        (tmp_path / "module.mlir").write_text(text)
        return command("ir", "module.mlir", *options)

    return run


@pytest.mark.parametrize("engine", ["reference", "core"])
def test_results_are_printed(ir, engine):
    result = ir(ADD, "--engine", engine)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "dense<[2.0, 4.0, 6.0]> : tensor<3xf32>\n"


def test_the_graph_is_printed_on_demand(ir):
    result = ir(ADD, "--print")
    assert "%1 = stablehlo.add %0, %0 : tensor<3xf32>" in result.stdout
    assert result.stdout.endswith("dense<[2.0, 4.0, 6.0]> : tensor<3xf32>\n")


def test_the_program_is_printed_on_demand(ir):
    result = ir(ADD, "--program", "--engine", "core")
    assert "tensor_tensor.vector" in result.stdout
    assert "{op0 = add}" in result.stdout
    assert "this engine compiles to no program" in ir(ADD, "--program", "--engine", "reference").stdout


def test_what_is_missing_is_said_once(ir):
    result = ir("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n")
    assert result.returncode == 1
    assert "do: pass --fill VALUE" in result.stderr
    assert result.stderr.count("do:") == 1


def test_checks_are_counted_over_all_modules(ir):
    module = CHECKED.format(second=4)
    assert ir(module).stdout == "1 check passed\n"
    assert ir(f"{module}// -----\n{module}").stdout == "2 checks passed\n"


def test_a_failed_check_says_what_differs(ir):
    result = ir(CHECKED.format(second=5))
    assert result.returncode == 1
    assert "element [1] of tensor<2xi32> differs (and 0 more), got 4, expected 5" in result.stderr
    assert "Traceback" not in result.stderr


def test_unknown_sizes_and_missing_arguments(ir):
    result = ir(PARAMETER)
    assert result.returncode == 1
    assert "a size is not known, got tensor<?xf32>" in result.stderr
    result = ir(PARAMETER, "--size", "2")
    assert result.returncode == 1
    assert "there are no arguments, got tensor<2xf32>" in result.stderr
    assert ir(PARAMETER, "--size", "2", "--fill", "9").stdout == "dense<3.0> : tensor<2xf32>\n"


def test_wrong_input_is_one_sentence(ir, command, tmp_path):
    result = ir("func.func @main() {\n  stablehlo.nothing\n  return\n}\n")
    assert result.returncode == 1
    assert "[line 2, column 3] unknown operation, got 'stablehlo.nothing'" in result.stderr
    result = ir(ADD, "--engine", "xyz")
    assert result.returncode == 1
    assert "no such engine, got 'xyz', expected one of: " in result.stderr
    (tmp_path / "bytes.mlir").write_bytes(b"\xff\xfe\x00")
    result = command("ir", "bytes.mlir")
    assert result.returncode == 1
    assert "the file is no text" in result.stderr


def test_a_function_with_parameters_is_shown_without_being_run(ir):
    module = PARAMETER.replace("?", "4")
    shown = ir(module, "--program", "--print", "--engine", "core")
    assert shown.returncode == 0
    assert "activation" in shown.stdout and "stablehlo.sqrt" in shown.stdout
    assert "dense" not in shown.stdout and "no results" not in shown.stdout
    assert ir(module).returncode != 0


def test_what_does_not_fit_into_the_memory_is_refused(ir):
    refused = ir(PARAMETER.replace("?", "1000000x1000000"), "--fill", "1")
    assert refused.returncode != 0
    assert "do not fit into the memory" in refused.stderr and "Traceback" not in refused.stderr

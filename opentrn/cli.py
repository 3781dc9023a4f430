"""The command `opentrn`."""

import dataclasses
import datetime
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from opentrn import _extension, _load, _script, demo, doctor, report, tables
from opentrn._extension import FALLBACK_MODES

PROBLEMS_FOUND = 1
_UNFOLDED_WIDTH = 1000


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(message="%(prog)s %(version)s", version=_load.installed_version())
def main() -> None:
    """OpenTrn: PyTorch on the device `neuron`, with or without a Trainium chip."""


class _RunCommand(click.Command):
    """Everything behind `-m MODULE` belongs to the module, as under python."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = _end_of_module_option(args)
        return super().parse_args(ctx, args if end is None else [*args[:end], "--", *args[end:]])


def _end_of_module_option(words: list[str]) -> int | None:
    """Where the arguments of the module begin; None when it is a script that runs."""
    position = 0
    while position < len(words) and words[position].startswith("-") and words[position] != "--":
        word = words[position]
        if word == "-m":
            return position + 2 if position + 1 < len(words) else None
        if word.startswith("-m"):
            return position + 1
        position += 2 if word in ("--report", "--fallback", "--dump") else 1
    return None


@main.command(cls=_RunCommand, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--report",
    "report_path",
    type=click.Path(path_type=Path),
    default="report.json",
    envvar="OPENTRN_REPORT",
    show_default=True,
    show_envvar=True,
    help="Where the report goes.",
)
@click.option("--fallback", type=click.Choice(FALLBACK_MODES), help="What an operator without a native form does.")
@click.option(
    "--dump",
    type=click.Path(path_type=Path),
    envvar="OPENTRN_DUMP",
    show_envvar=True,
    metavar="FOLDER",
    help="Write the graph and the NeuronCore program of everything that is compiled.",
)
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script, as python -m does.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT] [ARGS]...")
def run(
    report_path: Path, fallback: str | None, dump: Path | None, module: str | None, arguments: tuple[str, ...]
) -> None:
    """Run a script, then print a summary of what the device did and write it to a file."""
    words = list(arguments)
    if module is None and not words:
        raise click.UsageError("[run] there is nothing to run, expected a script or -m MODULE")
    target = module or words.pop(0)
    if module is None and not Path(target).exists():
        raise click.UsageError(f"[run] there is no such script, got {target}")
    # The script may change the working directory.
    absolute = report_path.absolute()
    if dump:
        os.environ["OPENTRN_DUMP"] = str(dump.absolute())
    _prepare_device(fallback)
    started = datetime.datetime.now().astimezone()
    start = time.perf_counter()
    outcome = _script.run(target, words, as_module=module is not None)
    milliseconds = 1000 * (time.perf_counter() - start)
    command = [*(["-m"] if module else []), target, *words]
    _finish(report.Run(command, started, milliseconds, outcome), absolute, str(report_path))
    sys.exit(outcome.exit_status)


def _prepare_device(fallback: str | None) -> None:
    if fallback is not None:
        # Processes that the script starts follow the variable, this one the override.
        os.environ["OPENTRN_FALLBACK"] = fallback
    if not _extension.is_loaded():
        return
    native = _extension.native
    if fallback is not None:
        native.set_fallback_override(fallback)
    native.set_timing(True)
    native.clear_statistics()
    from opentrn import _exit

    _exit.wanted = False


def _finish(finished: report.Run, path: Path, place: str) -> None:
    _script.flush_output()
    facts = report.collect(finished)
    try:
        report.write(facts, path)
    except OSError as error:
        place = f"could not be written: {error}; choose another place with --report"
    report.show(facts, place, report.summary_console())


@main.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor_command(as_json: bool) -> None:
    """Check the installation and say for each problem what to do."""
    checks = doctor.examine()
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(check) for check in checks], indent=1))
    else:
        _show_checks(checks)
    sys.exit(PROBLEMS_FOUND if any(check.status == doctor.PROBLEM for check in checks) else 0)


def _show_checks(checks: list[doctor.Check]) -> None:
    console = Console(highlight=False)
    colours = {doctor.OK: "green", doctor.NOTE: "yellow", doctor.PROBLEM: "bold red"}
    table = Table.grid(padding=(0, 2))
    for check in checks:
        text = Text(check.detail)
        if check.action:
            text.append(f"\ndo: {check.action}")
        table.add_row(Text(check.status, style=colours[check.status]), Text(check.name), text)
    console.print(table)
    problems = sum(check.status == doctor.PROBLEM for check in checks)
    console.print(
        f"{problems} {'problem' if problems == 1 else 'problems'} found." if problems else "No problem found."
    )


@main.command("demo")
@click.option("--prompt", default=demo.PROMPT, show_default=True)
@click.option("--max-new-tokens", type=click.IntRange(min=2), default=64, show_default=True)
def demo_command(prompt: str, max_new_tokens: int) -> None:
    """Chat with a real model on neuron, repeat it on the CPU and compare."""
    sys.exit(demo.run(prompt, max_new_tokens))


@main.command("env")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def environment(markdown: bool) -> None:
    """List the environment variables."""
    rows = _native_table("environment_table")
    if markdown:
        click.echo(tables.environment_markdown(rows), nl=False)
        return
    table = _plain_table("variable", "values", "default", "now", "meaning")
    for row in rows:
        now = os.environ.get(row["name"], "")
        table.add_row(*(Text(text) for text in (row["name"], row["values"], row["default"], now, row["description"])))
    _print_table(table)


@main.command("operators")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def operators(markdown: bool) -> None:
    """List the operators that run on the device."""
    rows = _native_table("lowering_table")
    if markdown:
        click.echo(tables.operators_markdown(rows), nl=False)
        return
    table = _plain_table("operator", "overloads", "note")
    for row in sorted(rows, key=lambda row: row["name"]):
        table.add_row(*(Text(text) for text in (row["name"], " ".join(row["overloads"]), row["note"])))
    _print_table(table)


@main.command("instructions")
@click.option("--markdown", is_flag=True, help="Print the tables of docs/neuroncore.md.")
def instructions(markdown: bool) -> None:
    """List the instructions of a NeuronCore, on Tensor, Vector, Scalar, GpSimd, sYnc or DMA."""
    if markdown:
        click.echo(_native_table("instruction_table_markdown"), nl=False)
        return
    table = _plain_table("instruction", "engines", "operands", "meaning", "limits", "cycles")
    for row in _native_table("instruction_table"):
        table.add_row(*(Text(row[key]) for key in ("name", "engines", "operands", "meaning", "limits", "cost")))
    _print_table(table)


@main.command("coverage")
@click.option("--target", default="trn2", show_default=True, metavar="TARGET", help="The chip: trn1, trn2 or trn3.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def coverage(target: str, markdown: bool) -> None:
    """List what the engine `core` computes on tiles, and what needs a GpSimd library call."""
    rows = _native_table("coverage_table", target)
    if markdown:
        click.echo(tables.coverage_markdown(rows), nl=False)
        return
    table = _plain_table("primitive", "on tiles", "library call", "no native unit", "note")
    for row in rows:
        lists = (row["tiles"], row["library"], row["no_native_unit"])
        table.add_row(Text(row["primitive"]), *(Text(" ".join(names)) for names in lists), Text(row["note"]))
    _print_table(table)


@main.command("ir")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--engine", default="", metavar="ENGINE", help="reference or core; otherwise that of OPENTRN_ENGINE.")
@click.option("--print", "show_graph", is_flag=True, help="Print the graph as it is understood.")
@click.option("--program", "show_program", is_flag=True, help="Print the NeuronCore program it is compiled to.")
@click.option("--size", type=click.IntRange(min=0), help="What sizes written '?' in the parameters stand for.")
@click.option("--fill", type=float, help="What every element of every argument is.")
def ir_command(
    file: Path, engine: str, show_graph: bool, show_program: bool, size: int | None, fill: float | None
) -> None:
    """Run the function `main` of a file of StableHLO text, and print its results or how many of its checks passed.

    With --print or --program, a function whose parameters nothing fills is only shown.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.ClickException(
            f"[ir] the file is no text, got {file}, expected StableHLO in its textual form"
        ) from None
    try:
        reports = _extension.native.run_stablehlo(text, engine, size, fill, show_graph or show_program)
    except (RuntimeError, ValueError, IndexError) as error:
        raise click.ClickException(str(error)) from None
    for report_of_module in reports:
        if show_graph:
            click.echo(report_of_module["text"], nl=False)
        if show_program:
            click.echo(report_of_module["program"] or "this engine compiles to no program\n", nl=False)
        shown_only = (show_graph or show_program) and not report_of_module["results"]
        if not report_of_module["checks"] and not shown_only:
            click.echo("\n".join(report_of_module["results"]) or "no results")
    checks = sum(report_of_module["checks"] for report_of_module in reports)
    if checks:
        click.echo(f"{checks} {'check' if checks == 1 else 'checks'} passed")


def _native_table(name: str, *arguments: str) -> Any:
    try:
        return getattr(_extension.native, name)(*arguments)
    except (RuntimeError, ValueError) as error:
        raise click.ClickException(str(error)) from None


def _print_table(table: Table) -> None:
    """Without a terminal a row is one line, so that `grep` finds names and shows their rows."""
    if sys.stdout.isatty():
        return Console(highlight=False).print(table)
    console = Console(highlight=False, width=_UNFOLDED_WIDTH)
    with console.capture() as text:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in text.get().splitlines()))


def _plain_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for position, column in enumerate(columns):
        # Names are copied from the first column.
        table.add_column(column, overflow="fold", no_wrap=position == 0)
    return table


if __name__ == "__main__":
    main()

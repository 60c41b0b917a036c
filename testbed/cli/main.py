"""The `causalbed` command: arguments, exit codes, and one sentence for every mistake.

Exit codes: 0 valid, 1 invalid, 2 inconclusive, 3 the run or the harness failed, 64 bad input.
Everything heavy is imported inside the command that needs it.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import click

from testbed import __version__
from testbed.cli.terminal import console, errors, print_json
from testbed.core.errors import BadInput, CausalbedError

EXIT_FAILED = 3
EXIT_BAD_INPUT = 64

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
runs_argument = click.argument("runs", metavar="RUN...", nargs=-1, required=True)
series_option = click.option(
    "--series", is_flag=True, help="Take all runs that were made together with RUN."
)
master_option = click.option(
    "--master", metavar="URL", help="Spark master; by default all cores of this machine."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="causalbed")
def cli() -> None:
    """Causal ordering algorithms: run them live, trace them, audit them, compare them.

    A RUN is a run directory, or a folder that holds some.
    """


@cli.command()
@click.argument("experiment")
@click.option("--engine", metavar="ray|sim", help="Live on Ray, or in virtual time.")
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True,
    help="Change a key of the experiment, such as network.loss=0.05.",
)  # fmt: skip
@click.option("--out", metavar="DIR", default="runs", help="Where runs are kept; default runs/.")
@as_json
def run(
    experiment: str, engine: str | None, settings: tuple[str, ...], out: str, as_json: bool
) -> int:
    """Run EXPERIMENT (a YAML file, or a name in experiments/) once for each of its algorithms.

    Every run is audited; the exit code is that of the worst verdict.
    """
    from testbed.cli.run import print_outcomes, run_experiment

    outcomes = run_experiment(
        experiment, engine=engine, settings=list(settings), out=out, quiet=as_json
    )
    if as_json:
        print_json(outcomes)
    else:
        print_outcomes(outcomes)
    verdicts = [outcome.verdict for outcome in outcomes]
    return 1 if "invalid" in verdicts else 2 if "inconclusive" in verdicts else 0


@cli.command()
@runs_argument
@series_option
@click.option("--spark", is_flag=True, help="Audit with Spark, for large traces.")
@master_option
@as_json
def audit(
    runs: tuple[str, ...], series: bool, spark: bool, master: str | None, as_json: bool
) -> int:
    """Judge RUN: causal order, exactly once, liveness; the first violation in prose."""
    from testbed.cli.inspect import audit_runs

    spark = spark or master is not None
    return audit_runs(runs, series=series, spark=spark, master=master, as_json=as_json)


@cli.command()
@runs_argument
@series_option
@click.option("--only", metavar="NAME", help="One table, such as comparison or overhead.")
@click.option(
    "--joules-sent", type=click.FloatRange(0), metavar="J",
    help="Energy per byte that a host sends; default 1.9e-6.",
)  # fmt: skip
@click.option(
    "--joules-received", type=click.FloatRange(0), metavar="J",
    help="Energy per byte that a host receives; default 0.5e-6.",
)  # fmt: skip
@master_option
@as_json
def stats(
    runs: tuple[str, ...],
    series: bool,
    only: str | None,
    joules_sent: float | None,
    joules_received: float | None,
    master: str | None,
    as_json: bool,
) -> int:
    """What causal order cost: overhead, state, delay, hold-back, throughput, hand-off."""
    from testbed.cli.inspect import print_statistics

    given = {"joules_sent": joules_sent, "joules_received": joules_received}
    settings = {name: value for name, value in given.items() if value is not None}
    return print_statistics(
        runs, series=series, only=only, master=master, as_json=as_json, **settings
    )


@cli.command()
@click.argument("arguments", metavar="RUN... QUERY", nargs=-1, required=True)
@series_option
@master_option
@as_json
def sql(arguments: tuple[str, ...], series: bool, master: str | None, as_json: bool) -> int:
    """Spark SQL over the tables runs, events and messages."""
    from testbed.cli.inspect import print_query

    *runs, query = arguments
    if not runs:
        raise BadInput("sql: got one argument, takes run directories and then a query")
    return print_query(runs, query, series=series, master=master, as_json=as_json)


@cli.command()
@runs_argument
@series_option
@click.option(
    "--out", type=Path, metavar="FILE", default=Path("report.html"),
    help="The HTML file; default report.html.",
)  # fmt: skip
@master_option
@as_json
def report(
    runs: tuple[str, ...], series: bool, out: Path, master: str | None, as_json: bool
) -> int:
    """One self-contained HTML file: verdict, comparison, plots, experiment."""
    from testbed.cli.inspect import make_report

    return make_report(runs, out, series=series, master=master, as_json=as_json)


@cli.command()
@click.argument("algorithm")
@click.option("--schedules", type=click.IntRange(1), help="How many schedules to try.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="How long to try.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Which schedules; default 1.")
@click.option("--first", type=click.IntRange(0), default=0, help="Number of the first schedule.")
@click.option("--nodes", type=click.IntRange(2), help="Processes; default 2 to 8.")
@click.option("--stations", type=click.IntRange(1), help="Of a mobile algorithm; default 2 to 5.")
@click.option("--hosts", type=click.IntRange(2), help="Of a mobile algorithm; default 2 to 6.")
@click.option("--messages", type=click.IntRange(1), help="Sends; default 5 to 24.")
@click.option("--replay", type=Path, metavar="FILE", help="Repeat one saved schedule.")
@click.option("--save", type=Path, metavar="DIR", help="Save finds as files to replay.")
@as_json
def check(
    algorithm: str,
    schedules: int | None,
    seconds: float | None,
    seed: int,
    first: int,
    nodes: int | None,
    stations: int | None,
    hosts: int | None,
    messages: int | None,
    replay: Path | None,
    save: Path | None,
    as_json: bool,
) -> int:
    """Hunt for a schedule that breaks ALGORITHM (a name, or package.module:NAME).

    Random and adversarial schedules in virtual time, on all cores, under the audit; hosts of a
    mobile algorithm also move and disconnect.
    """
    from testbed.cli.check import hunt_and_print, replay_and_print
    from testbed.hunt.generate import Shape

    if replay is not None:
        return replay_and_print(algorithm, replay, as_json=as_json)
    return hunt_and_print(
        algorithm, schedules=schedules, seconds=seconds, seed=seed, first=first,
        shape=Shape(nodes, messages, stations, hosts), save=save, as_json=as_json,
    )  # fmt: skip


@cli.command("algorithms")
@as_json
def list_algorithms(as_json: bool) -> int:
    """The algorithms there are, and what each assumes."""
    from testbed.cli.catalogue import print_algorithms

    return print_algorithms(as_json=as_json)


@cli.command()
@as_json
def doctor(as_json: bool) -> int:
    """Check this machine, and say what to do about what is missing."""
    from testbed.cli.doctor import checks, print_checks

    found = checks()
    if as_json:
        print_json([check._asdict() for check in found])
    else:
        print_checks(found)
    return 0 if all(check.ok or not check.needed for check in found) else EXIT_FAILED


@cli.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@as_json
def bench(names: tuple[str, ...], as_json: bool) -> int:
    """Measure: ratios against something run beside it, as a table and as JSON."""
    from testbed.cli.bench import run_benchmarks

    return run_benchmarks(names, as_json=as_json)


def main() -> None:
    """The entry point: runs a command and turns what went wrong into one sentence."""
    try:
        code = cli(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        console.print(error.format_message(), highlight=False, markup=False)
        code = EXIT_BAD_INPUT
    except click.ClickException as error:
        errors.print(f"causalbed: {error.format_message()}", highlight=False, markup=False)
        code = EXIT_BAD_INPUT
    except CausalbedError as error:
        errors.print(f"causalbed: {error}", highlight=False, markup=False)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        errors.print("causalbed: interrupted", highlight=False)
        code = EXIT_FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # noqa: BLE001 - a bug of ours must not look like a verdict
        traceback.print_exc()
        errors.print(
            f"causalbed: failed, and this is a bug: {error}", highlight=False, markup=False
        )
        code = EXIT_FAILED
    sys.exit(code if isinstance(code, int) else 0)

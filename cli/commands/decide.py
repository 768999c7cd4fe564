"""`scorehouse decide`."""

from typing import Annotated

import typer

from cli.completion import complete_metric
from cli.options import ChartFlags, Draws, Lp, Output, Seed, SliceFlags, Testset, choice, folded, number
from cli.options.beside import refuse_given

VIEWS = ("curve", "threshold", "cost", "reliability", "transfer")
_DRAWN = ("draws", "seed")
_OTHERS = {"curve": _DRAWN, "threshold": ("precision", *_DRAWN), "cost": ("miss", "look"), "reliability": _DRAWN}


@folded
def decide(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    metric: Annotated[str, typer.Argument(help="Metric, such as COMET-refA or COMET.", autocompletion=complete_metric)],
    flags: SliceFlags,
    charted: ChartFlags,
    output: Output,
    view: Annotated[
        str,
        choice(
            VIEWS,
            "--view",
            help="Precision and recall over thresholds, the threshold for a precision, costs, whether calibrated "
            "scores mean what they say, or thresholds carried to other evaluation sets and domains.",
        ),
    ] = "curve",
    good: Annotated[
        str, typer.Option("--good", help="Least human score of a good output, or error_free.")
    ] = "error_free",
    precision: Annotated[
        float, number("--precision", least=0, most=1, help="Wanted share of good outputs among those called good.")
    ] = 0.95,
    miss: Annotated[float, number("--miss", least=0, help="Price of publishing an output that is not good.")] = 10.0,
    look: Annotated[float, number("--look", least=0, help="Price of a look at an output.")] = 1.0,
    draws: Draws = 1000,
    seed: Seed = 0,
) -> None:
    """Decide by a metric which outputs may be published without a look.

    Example: scorehouse decide sim24 en-de simBLEU --good -1 --view threshold --precision 0.8
    """
    from metaeval.decisions.curves import curve, decided
    from metaeval.decisions.views import elsewhere, shown, transferred
    from metaeval.measures import parse_measure
    from warehouse import Warehouse

    used = _OTHERS.get(view, ())
    unused = {name for names in _OTHERS.values() for name in names} - set(used)
    refuse_given(context, tuple(sorted(unused)), f"does nothing with --view {view}")
    measure, asked = parse_measure(f"mcc(good={good})"), flags.slice(testset, lp)
    with Warehouse.open(output.database) as warehouse:
        one = decided(warehouse, asked, metric, measure)
        others_too = elsewhere(warehouse, asked, one, measure) if view == "transfer" else None
    if others_too is not None:
        found = transferred(others_too[0], one, others_too[1])
    else:
        found = shown(view, one, precision=precision, miss=miss, look=look, draws=draws, seed=seed)
    if charted.chart is not None:
        from cli.charts.decide import decision_chart

        drawn = curve(one, points=50, draws=draws, seed=seed) if view == "threshold" else found
        charted.draw(output, lambda: decision_chart(view, drawn, one.name))
    output.show_table(found, digits=4)

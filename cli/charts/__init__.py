"""Charts of answers, put into files and pages."""

from cli.charts.drawing import check_chart, draw

__all__ = ["DRAWN", "WITHOUT_CHART", "check_chart", "draw"]

DRAWN = {
    "rank": "dots with 95% intervals and bracketed clusters, of two measures also one against the other; of several "
    "evaluation sets, or with `--by domain`, a heat map",
    "compare": "a matrix of p-values of metrics, clusters parted",
    "protocol": "a panel for the overall score and each task",
    "trend": "a family of each kind of metric over the years, others grey, by human protocol; gaps to the anchor",
    "systems": "a matrix of p-values of systems, clusters parted",
    "autorank": "systems by their rank, a panel for each language pair",
    "deltas": "agreement with people over a metric's difference, with a band, by human protocol; with `--hard` "
    "every pair of systems: people's difference and the share of metrics that see it",
    "noise": "values over rising noise, by its kind; with `--oracles` values of oracles",
    "paper": "a figure of a paper, computed again",
    "plan": "power by the number of units, with the number needed and its intervals",
    "scatter": "systems, differences of system pairs, and segments as a density: one metric against humans",
    "spans": "precision against recall with lines of equal F; of groups and of severities a heat map; outputs by "
    "numbers of spans",
    "counts": "shares of concordant, discordant and tied pairs",
    "thresholds": "calibration curves: the value over tie thresholds, with the interval of best ones; with "
    "`--ties` shares of tied pairs",
    "decide": "precision and recall over thresholds with bands, costs, a reliability diagram, or a heat map of carried "
    "thresholds",
    "correlations": "a heat map of metrics, alike ones side by side",
    "show": "a segment's outputs by each scorer",
}
"""Commands with `--chart`, and what it shows."""
WITHOUT_CHART = {
    "demo": "walks through other commands",
    "load": "reports files",
    "list": "lists names and counts",
    "means": "`scatter` draws system scores of a metric against humans",
    "choose": "lists segments to annotate",
    "segments": "lists texts to read; `scatter` draws a metric against people",
    "annotators": "each row has statistics on several scales",
    "audit": "lists findings, not numbers",
    "report": "a page with the charts of other commands",
    "explore": "a page with the charts of other commands",
    "compute": "stores scores",
    "add": "stores scores",
    "remove": "changes the warehouse",
    "diff": "counts what differs; `rank --chart` draws either warehouse",
    "download": "fetches files",
    "export": "writes files",
    "sql": "the columns are the user's own",
}
"""Commands that draw nothing, and why; all others have `--chart`."""

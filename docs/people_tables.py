"""The tables of docs/plan-annotation.md, from what replays of past campaigns counted."""

import csv
from collections.abc import Iterator

from benchmarks.people import TABLE
from docs.tables import table

Key = tuple[str, str, str, int, str]


def _read() -> dict[Key, dict[str, float]]:
    """Values by study, test set, language pair, number and what helped."""
    found: dict[Key, dict[str, float]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["study"], row["testset"], row["lp"], int(row["n"]), row["by"])
            found.setdefault(key, {})[row["measure"]] = float(row["value"])
    return found


def _percent(value: float) -> str:
    """A share in percent; what rounds to 0 has no sign.

    >>> _percent(0.124), _percent(-0.002), _percent(-0.03)
    ('12%', '0%', '-3%')
    """
    return f"{round(100 * value)}%"


def assisted_replays() -> str:
    """One row per campaign and metric, one column per number of segments."""
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for (study, testset, lp, n, by), found in _read().items():
        if study != "assisted":
            continue
        campaign = f"{testset} {lp}"
        alone = _cell("–", found["coverage_without"], found["tau_without"])
        rows.setdefault((campaign, "none"), {})[n] = alone
        cell = _cell(_percent(found["saved"]), found["coverage"], found["tau"])
        rows.setdefault((campaign, by.replace("+", " + ")), {})[n] = cell
    sizes = sorted({n for cells in rows.values() for n in cells})
    order = list(dict.fromkeys(campaign for campaign, _ in rows))
    lines = [
        [campaign, by, *(cells.get(n, "") for n in sizes)]
        for (campaign, by), cells in sorted(rows.items(), key=lambda row: order.index(row[0][0]))
    ]
    return table(["campaign", "metric", *(f"{n} segments" for n in sizes)], lines)


def _cell(saved: str, coverage: float, tau: float) -> str:
    """Saved, coverage, and Kendall's tau.

    >>> _cell("12%", 0.943, 0.958)
    '12% (.943, .96)'
    """
    return f"{saved} ({coverage:.3f}, {tau:.2f})".replace("(0.", "(.").replace(" 0.", " .")


def sequential_replays() -> str:
    """One row per campaign: how often intervals are wrong, and what stopping early saves."""
    return table(
        ["campaign", "units", "this campaign", "new documents", "exchangeable", "saved", "left", "winner kept"],
        _sequential_rows(),
    )


def _sequential_rows() -> Iterator[list[str]]:
    found = [(key, values) for key, values in _read().items() if key[0] == "sequential"]
    for (_, testset, lp, n, unit), wrong in found:
        if not unit:
            continue
        saved = next(values for key, values in found if key[1:4] == (testset, lp, n) and not key[4])
        shares = [wrong[f"excluded_of_{name}"] for name in ("the_campaign", "new_documents", "exchangeable_systems")]
        yield [
            f"{testset} {lp}",
            f"{n} {unit}s",
            *(f"{share:.3f}".removeprefix("0") for share in shares),
            _percent(saved["saved"]),
            f"{saved['n_left']:.1f} of {saved['n_systems']:.0f}",
            _percent(saved["winner_kept"]),
        ]


def replacement_levels() -> str:
    """One row per rule: how often a metric that is an annotator beats another one at p <= .05, with epsilon 0."""
    rows: dict[str, dict[str, str]] = {}
    for (study, _, _, _, rule), found in _read().items():
        if study == "replace":
            rows.setdefault(rule, {}).update({name: f"{value:.3f}".removeprefix("0") for name, value in found.items()})
    names = {"authors": "`--rule authors`", "segment": "`--rule clustered`", "document": "`--by-document`"}
    columns = ("independent segments", "dependent documents")
    return table(
        ["rule", *columns], [[names[rule], *(cells[name] for name in columns)] for rule, cells in rows.items()]
    )

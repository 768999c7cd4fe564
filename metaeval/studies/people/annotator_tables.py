"""Tables of annotators: their columns, legends, and a version for reading."""

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from metaeval.results.answer import fixed
from metaeval.studies.people.reliability import N_SPLITS
from warehouse.wording import are, counted, ends

View = Literal["sets", "annotators", "pairs"]
_RELIABILITY = (
    f"system_r, output_r: split-half, Pearson's r of one random half with the other, mean and 2.5-97.5% range of "
    f"{N_SPLITS} splits, not an interval; corrected: by Spearman-Brown, for all judgements together, where r is not "
    "negative: for the same outputs as far as both halves judged them (n_halved of n_outputs), else for new outputs"
)
_LEGEND: dict[str, Sequence[tuple[str, str]]] = {
    "sets": (
        (
            "alpha",
            "alpha: Krippendorff's, interval metric, of outputs with at least two annotators; its interval is for new "
            "segments judged by these annotators, not for other annotators",
        ),
        ("system_r", _RELIABILITY),
    ),
    "annotators": (
        ("leniency", "leniency: mean of judgements minus the mean of their systems"),
        ("difference", "difference: mean difference from the others' mean on shared outputs"),
        (
            "drift",
            "drift: change of judgement minus system mean from an annotator's first to last, by least squares; its "
            "interval is by the jackknife over documents, of at least 5",
        ),
    ),
    "pairs": (
        (
            "difference",
            "difference: mean of a minus b; distance: mean absolute difference; on outputs that both judged",
        ),
        ("spans_f", "spans_f: F of the error spans of a and b; a span is found where it overlaps one of the other's"),
    ),
}


def legend(view: View, frame: pl.DataFrame) -> list[str]:
    """Meaning of the columns that have a value."""
    return [words for column, words in _LEGEND[view] if frame[column].null_count() < frame.height]


def summary(row: dict[str, Any]) -> str:
    """Facts about all annotators of a human score together, in words."""
    outputs, annotators = counted(row["n_outputs"], "output"), counted(row["n_annotators"] or 0, "annotator")
    words = [f"{row['n_shared']} of {outputs} {are(row['n_shared'], have=True)} at least two annotators"]
    if row["alpha"] is not None:
        words.append(
            f"Krippendorff's alpha {row['alpha']:.3f} [{row['alpha_low']:.3f}, {row['alpha_high']:.3f}] for new "
            "segments judged by these annotators"
        )
    for what in ("system", "output"):
        if row[f"{what}_r"] is not None:
            low, high, whole = row[f"{what}_low"], row[f"{what}_high"], row[f"{what}_corrected"]
            corrected = ", negative: not corrected" if whole is None else f", corrected by Spearman-Brown {whole:.3f}"
            target = "the same outputs" if what == "output" else _target(row["n_halved"] / row["n_outputs"])
            words.append(
                f"split-half r of {what} scores {row[f'{what}_r']:.3f} ({ends(f'{low:.3f}', f'{high:.3f}')} over "
                f"splits of {row['halves']}){corrected}, for {target}"
            )
    if row["n_drifting"] is not None:
        words.append(f"{row['n_drifting']} of {annotators} drift (5% expected by chance)")
    return "; ".join(words)


def _target(shared: float) -> str:
    """Outputs to which reliability generalises, by the share of outputs that both halves judged.

    >>> _target(0.0), _target(1.0), _target(0.25)
    ('new outputs', 'the same outputs', 'outputs of which the halves share 25%')
    """
    return {0.0: "new outputs", 1.0: "the same outputs"}.get(shared, f"outputs of which the halves share {shared:.0%}")


def schema(view: View) -> dict[str, Any]:
    text = ("testset", "lp", "human", "annotator", "annotator_a", "annotator_b", "halves", "signature")
    return {
        name: pl.String if name in text else pl.Int64 if name.startswith("n_") else pl.Float64
        for name in _COLUMNS[view]
    }


_OF: Sequence[str] = ("testset", "lp", "human")
_COLUMNS: dict[View, Sequence[str]] = {
    "sets": (
        *_OF,
        *("n_annotators", "n_judgements", "n_excluded", "n_outputs", "n_shared", "mean", "sd"),
        *("alpha", "alpha_low", "alpha_high", "n_drifting", "halves"),
        *("system_r", "system_low", "system_high", "system_corrected", "n_systems"),
        *("output_r", "output_low", "output_high", "output_corrected", "n_halved", "signature"),
    ),
    "annotators": (
        *_OF,
        *("annotator", "n_judgements", "n_excluded", "n_outputs", "n_shared", "mean", "sd"),
        *("leniency", "difference", "drift", "drift_low", "drift_high", "signature"),
    ),
    "pairs": (
        *_OF,
        *("annotator_a", "annotator_b", "n_shared", "difference", "distance", "tau_b", "alpha", "spans_f", "signature"),
    ),
}


def reading(frame: pl.DataFrame) -> pl.DataFrame:
    """The table for reading: intervals next to their values, without columns that are the same in all rows."""
    shown = frame.drop("signature")
    names = {"alpha": "alpha", "drift": "drift", "system": "system_r", "output": "output_r"}
    for prefix, name in names.items():
        if f"{prefix}_low" in shown.columns:
            value, low, high = (fixed(one, 3) for one in (name, f"{prefix}_low", f"{prefix}_high"))
            cell = pl.when(low.is_null()).then(value).otherwise(pl.format("{} [{}, {}]", value, low, high))
            shown = shown.with_columns(cell.alias(name)).drop(f"{prefix}_low", f"{prefix}_high")
    same = [name for name in _OF if shown[name].n_unique() == 1]
    return shown.drop(same, *(name for name in shown.columns if shown[name].null_count() == shown.height))

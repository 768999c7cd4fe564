"""WMT20's metrics task in small: a metric, direct assessments and the map of segments, as they were published."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

DETAILS = "1\tnewstest2020\ten-de\tn1\t1\n2\tnewstest2020\ten-de\tn1\t2\n3\tnewstest2020\ten-de\tn2\t1\n"


CELLS = (("n1", 1), ("n1", 2), ("n2", 1))


def seg_scores(scores: Mapping[str, Sequence[object]], metric: str = "BLEU", lp: str = "en-de") -> str:
    """A metric's segment scores as WMT20 published them."""
    rows = [
        f"{metric}\t{lp}\tnewstest2020\tnewstest2020\t{system}\t{document}\t{index}\t{value}\n"
        for system, values in scores.items()
        for (document, index), value in zip(CELLS, values, strict=True)
    ]
    return "".join(rows)


def judged(scores: Mapping[str, Sequence[float]]) -> str:
    """Direct assessments of whole documents, as WMT20 published them: indices count from 0."""
    rows = [
        f"{system} {document}_{index - 1} {value} {value / 100} 2 \n"
        for system, values in scores.items()
        for (document, index), value in zip(CELLS, values, strict=True)
    ]
    return "SYS SID RAW.SCR Z.SCR N \n" + "".join(rows)


BLEU = {"A_B.1": (1.0, 2.0, 3.0), "C.2": (4.0, 5.0, 6.0), "Human-A.0": (7.0, 8.0, 9.0)}


HUMAN = {"A-B.1": (10.0, 20.0, 30.0), "C.2": (40.0, 50.0, 60.0), "HUMAN-A": (70.0, 80.0, 90.0)}


def write_task(root: Path) -> Path:
    """The folders of WMT20's metrics task with one metric, direct assessments and the map of segments."""
    for folder in ("input/details", "final-metric-scores/submissions", "manual-evaluation/DA"):
        (root / folder).mkdir(parents=True)
    details(root).write_text(DETAILS)
    packed = seg_scores(BLEU).removesuffix("\n")  # whole without a last line end: a cut archive cannot be unpacked
    metric(root).write_bytes(gzip.compress(packed.encode(), mtime=0))
    human(root).write_text(judged(HUMAN))
    return root


def details(task: Path) -> Path:
    return task / "input" / "details" / "en-de.txt"


def metric(task: Path, name: str = "BLEU.seg.score.gz") -> Path:
    return task / "final-metric-scores" / "submissions" / name


def human(task: Path) -> Path:
    return task / "manual-evaluation" / "DA" / "ad-seg-scores-en-de.csv"

"""What a file should be by its name and place, for one that nobody recognises: it is damaged, and not passed over."""

import re
from pathlib import Path

from warehouse.readers.mtme.place import SCORE_FOLDERS, locate

_AFTER = {  # shared tasks' own names; the end of a path
    r"details/[a-z]{2,3}-[a-z]{2,3}\.txt": "segments: line, test set, language pair, document and number, by tabs",
    r"[^/]+\.(sys|domain|doc|seg)\.(score|tsv)(\.gz)?": "scores of a metric",
    r"mqm[_-][^/]*\.tsv": "MQM annotations or their averages",
    r"automatic_scores/[^/]+\.jsonl": "automatic scores, one document a line",
    r"[^/]*humeval[^/]*\.jsonl": "human evaluation, one segment a line",
    r"(esa_[^/]*|[^/]*appraise[^/]*)\.csv": "judgements exported from Appraise",
    r"mt-systems-scored-by-(humans|metrics)": "METRIC LP TESTSET SYSTEM SCORE, by tabs",
}
_OF_LAYOUT = re.compile(r".+\.(sys|domain|doc|seg)\.score", re.IGNORECASE)
_EXPECTED = tuple((re.compile(f"(?:.*/)?{end}", re.IGNORECASE), what) for end, what in _AFTER.items())


def expected_of(path: Path) -> str | None:
    """What a file of that name at that place should hold; None where both say nothing.

    >>> expected_of(Path("input/details/de-en.txt"))
    'segments: line, test set, language pair, document and number, by tabs'
    >>> expected_of(Path("details/README.txt")) is None
    True
    """
    text = path.as_posix()
    return next((what for pattern, what in _EXPECTED if pattern.fullmatch(text)), None)


def is_out_of_place(path: Path) -> bool:
    """Whether a file is named as one of the organisers' score files, and no folder around it is one of theirs: they say
    which test set, and mostly which language pair, it is of.

    >>> [is_out_of_place(Path(folder, "BLEU-refA.seg.score")) for folder in ("mine", "metric-scores/en-de")]
    [True, False]
    """
    is_of_layout = not set(SCORE_FOLDERS).isdisjoint(path.parts[:-1])
    return _OF_LAYOUT.fullmatch(path.name) is not None and not is_of_layout


def is_packed_score_file(path: Path) -> bool:
    """Whether a file that nobody reads is packed, and by its name or place would hold scores if it were not.

    Tables and submissions may be packed by gzip, files of the organisers' layout may not.

    >>> [is_packed_score_file(Path(name)) for name in ("wmt23/documents/en-de.docs.gz", "mine.csv.xz", "paper.pdf.xz")]
    [True, True, False]
    """
    inside = path.with_suffix("")
    if path.suffix == ".gz":
        return locate(inside) is not None
    is_named_so = inside.suffix in (".tsv", ".csv", ".score", ".rating", ".jsonl")
    return path.suffix in (".bz2", ".xz", ".zst", ".zip", ".7z") and (
        is_named_so or locate(inside) is not None or expected_of(inside) is not None
    )

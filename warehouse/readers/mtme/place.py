"""A file's place in the organisers' layout, and what it says about the file."""

import re
from dataclasses import dataclass
from pathlib import Path

from warehouse.names import LEVELS, LanguagePair, MetricVariant, visible_name
from warehouse.readers.claims import Declares
from warehouse.readers.vocabulary import published_output

TEXT_FOLDERS = ("sources", "references", "system-outputs")
SCORE_FOLDERS = ("human-scores", "metric-scores")
_FOLDERS = ("documents", *TEXT_FOLDERS, *SCORE_FOLDERS, "metadata")
_NAMELESS = "data"
_YEAR = re.compile(r"(?:19|20)\d\d")
_PUBLISHED = re.compile(
    r"news[a-z]*20\d\d(?:-(?P<pair>[a-z]{4}))?-(?P<kind>ref|src)\.(?P<language>[a-z]{2,3})(?:\.txt)?"
)
"""The name of a reference or a source in the translation task's own releases."""
_WITH_LP_FOLDERS = ("system-outputs", "metric-scores", "metadata")


@dataclass(frozen=True)
class Place:
    """A file's place in the layout, and what it says about the file.

    folder: of the layout. lp: as spelled there. name: reference, system, human score or metric variant. level: of
    scores. extension: the format of the body; `rating` for marked errors, stored next to the scores.
    """

    folder: str
    lp: str
    name: str = ""
    level: str = ""
    extension: str = ""

    @property
    def declares(self) -> Declares | None:
        """The declarations that other files are checked against."""
        if self.folder == "documents":
            return "segments"
        return "systems" if self.folder in ("references", "system-outputs") else None

    @property
    def is_annotation(self) -> bool:
        """Whether the file has marked errors, from annotators or predicted by a metric."""
        return self.extension == "rating"

    @property
    def companion(self) -> Path | None:
        """The score that annotations belong to, or the annotations behind a score."""
        if self.level != "seg" or self.folder not in SCORE_FOLDERS:
            return None
        name = f"{self.name}.seg.{'score' if self.is_annotation else 'rating'}"
        if self.folder == "metric-scores":
            return Path(self.folder, self.lp, name)
        return Path(self.folder, f"{self.lp}.{name}")


def counts_segments(place: Place) -> bool:
    """Whether a file has a line for each segment, or in score files for each system and segment."""
    return place.folder in TEXT_FOLDERS or place.level == "seg"


def locate(path: Path) -> tuple[Path, str] | None:
    """Folder of the test set and name of the layout's folder below it; None if the file is in no such folder."""
    parent = path.parent
    folder = parent.parent if parent.parent.name in _WITH_LP_FOLDERS else parent
    if folder.name not in _FOLDERS or not folder.parent.name:
        return None
    return folder.parent, folder.name


def testset_of(root: Path) -> str:
    """The name of a test set: its folder's, with the year above if it has none; for `data`, that of the folder above.

    >>> [testset_of(Path(path)) for path in ("/x/wmt23", "/x/mslc/2023/data", "/x/mslc/2024/data/MSLC-A")]
    ['wmt23', 'mslc-2023', 'MSLC-A-2024']
    """
    above = [folder.name for folder in root.parents if folder.name not in ("", _NAMELESS)]
    name = root.name
    if name == _NAMELESS and above:
        name = above.pop(0)
        if _YEAR.fullmatch(name) and above:
            return f"{above[0]}-{name}"
    is_below = root.parent.name == _NAMELESS and not any(sign.isdigit() for sign in name)
    return f"{name}-{above[0]}" if is_below and above and _YEAR.fullmatch(above[0]) else name


def parse_place(path: Path) -> Place:
    """Read a file's place from its path below the test set's folder.

    >>> parse_place(Path("metric-scores/en-de/UniTE-ref-refA.seg.score")).name
    'UniTE-ref-refA'

    Raises ValueError: the layout has no such name there; the message has the reason.
    """
    folder, *between = path.parts[:-1]
    stem, _, extension = path.name.rpartition(".")
    if folder in _WITH_LP_FOLDERS:
        if len(between) != 1:
            raise ValueError(f"expected {folder}/LP/FILE")
        lp, rest = between[0], stem
    elif between:
        raise ValueError(f"expected {folder}/FILE, without further folders")
    else:
        lp, _, rest = stem.partition(".")
    LanguagePair.parse(lp)
    if folder == "documents":
        if extension != "docs" or rest:
            raise ValueError("expected documents/LP.docs")
        return Place(folder, lp, extension=extension)
    if folder in TEXT_FOLDERS:
        return _text_place(folder, lp, rest, extension)
    return _score_place(folder, lp, rest, extension)


def places(root: Path, path: Path) -> tuple[Place, ...]:
    """A file's place, for each of its language pairs.

    Texts may have the names of the translation task's releases until 2016: `newstest2012.cs-en.SYSTEM` below
    `system-outputs/cs-en`, `newstest2012-ref.en` and `newstest2012-src.cs`; the latter are of all language pairs of
    that language that lie in `system-outputs`.
    Raises ValueError: see `parse_place`; no language pair has a released reference or source.
    """
    relative = path.relative_to(root)
    folder = relative.parts[0]
    if folder == "system-outputs" and len(relative.parts) == 3 and (name := _released_system(path)) is not None:
        LanguagePair.parse(relative.parts[1])
        return (Place(folder, relative.parts[1], name=name, extension="txt"),)
    found = _PUBLISHED.fullmatch(path.name)
    if found is None or folder != {"ref": "references", "src": "sources"}[found["kind"]] or len(relative.parts) != 2:
        return (parse_place(relative),)
    side, name = (1, "ref") if found["kind"] == "ref" else (0, "")
    pair = found["pair"]
    there = [f"{pair[:2]}-{pair[2:]}"] if pair else [one.name for one in sorted(root.glob("system-outputs/*"))]
    lps = [lp for lp in there if lp.split("-")[side : side + 1] == [found["language"]]]
    if not lps:
        example = f"xx-{found['language']}" if side else f"{found['language']}-xx"
        raise ValueError(f"expected outputs of its language pairs in system-outputs/LP, such as {example}")
    return tuple(Place(folder, lp, name=name, extension="txt") for lp in lps)


def _released_system(path: Path) -> str | None:
    """The system of an output with its released name; the number is kept if two systems differ only in it."""
    short, numbered = published_output(path.name)
    if short == path.name:
        return None
    alike = {
        published_output(other.name)[1] for other in path.parent.iterdir() if published_output(other.name)[0] == short
    }
    return visible_name(short if len(alike) == 1 else numbered)


def _text_place(folder: str, lp: str, name: str, extension: str) -> Place:
    if extension not in ("txt", "jsonl"):
        raise ValueError("expected a text file, .txt or .jsonl")
    if folder == "sources" and name:
        raise ValueError("expected sources/LP.txt")
    if folder != "sources" and not name:
        raise ValueError(f"expected {folder}/ with a name before .{extension}")
    return Place(folder, lp, name=name, extension=extension)


def _score_place(folder: str, lp: str, rest: str, extension: str) -> Place:
    name, _, level = rest.rpartition(".")
    name = "-".join(map(visible_name, name.rsplit("-", 1))) if folder == "metric-scores" else visible_name(name)
    if not name or level not in LEVELS:
        raise ValueError("expected NAME.LEVEL.score with a level of sys, domain, doc or seg")
    if extension != "score" and not (extension == "rating" and level == "seg"):
        raise ValueError("expected a file that ends in .score")
    if folder == "metric-scores":
        MetricVariant.parse(name)
    return Place(folder, lp, name=name, level=level, extension=extension)


def declared_systems(root: Path, lp: str) -> frozenset[str]:
    """Systems with texts in the test set's folder, including files that are not being read."""
    found = [*root.glob("references/*"), *root.glob("system-outputs/*/*")]
    names = set[str]()
    for path in found:
        try:
            names.update(place.name for place in places(root, path) if place.lp == lp)
        except ValueError:
            continue
    return frozenset(names)

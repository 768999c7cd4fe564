"""Names in the shared tasks' files and folders: test sets, language pairs, and references of metrics."""

import re
from pathlib import Path

from warehouse.facts.languages import language_pair_called
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import TestsetFacts, facts
from warehouse.names import REFERENCE_FREE, LanguagePair

_TESTSET_NAMES = (  # parts of a path, the most telling first
    (re.compile(r"flores(101)?([-_.].*)?"), "wmt21.flores"),
    (re.compile(r"ted(talks)?"), "wmt21.tedtalks"),
    (re.compile(r"newstest(20)?21.*"), "wmt21.news"),
    (re.compile(r"(?:newstest|generaltest)(20)?(?P<year>[12]\d)([-_.].*)?"), None),
    (re.compile(r"wmt(?:20)?21([-_].*)?"), "wmt21.news"),
    (re.compile(r"wmt(?:20)?(?P<year>[12]\d)([-_].*)?"), None),
)

_TASK = re.compile(r"(?:newstest|generaltest|generalmt|wmt)(?:20)?(?P<year>\d\d)")
_OWN = re.compile(r"[a-z][a-z_-]*?[-_]?20\d\d")
_YEARLESS = re.compile(r"challenge(?:set|sets)?")
_YEAR = re.compile(r"(?:wmt|newstest|generaltest|generalmt)(?:20)?(?P<year>[012]\d)(?:\D.*)?")
_REFERENCE_SET = re.compile(r"[a-z]+?(?P<letter>[A-Z]?)(?:20)?\d\d")
_REFERENCE_LETTER = re.compile(r"(?:ref)?-?(?P<letter>[A-Z])")


def testset_called(name: str, path: Path) -> str | None:
    """The test set behind a name in a score file; None if only the user can tell.

    Additional test sets of a year (`testsuites2020`, challenge sets) are separate test sets.
    path: of the file; gives the year if the name does not.
    >>> [testset_called(name, Path("wmt22")) for name in ("newstest2012", "generaltest2022", "newstest2021")]
    ['wmt12', 'wmt22', 'wmt21.news']
    >>> [testset_called(name, Path("wmt22")) for name in ("tedtalks", "testsuites2020", "challengeset", "odd")]
    ['wmt21.tedtalks', 'testsuites2020', 'challengeset2022', None]
    """
    lowered = name.strip().lower()
    if lowered.startswith("flores"):
        return "wmt21.flores"
    if (task := _TASK.fullmatch(lowered)) is not None:
        return "wmt21.news" if task["year"] == "21" else f"wmt{task['year']}"
    if lowered in ("tedtalks", "ted"):
        return "wmt21.tedtalks"
    if _OWN.fullmatch(lowered):
        return lowered
    if _YEARLESS.fullmatch(lowered):
        year = year_of(path)
        return None if year is None else f"challengeset{year}"
    return None


def published_testset(name: str) -> str | None:
    """The test set that the translation tasks published under this name; None for any other name.

    >>> [published_testset(name) for name in ("newstest2012", "generaltest2022", "newstest2021", "wmt12", "mine2012")]
    ['wmt12', 'wmt22', 'wmt21.news', None, None]
    """
    is_published = re.fullmatch(r"(newstest|generaltest|generalmt)20\d\d", name.lower())
    return testset_called(name, Path()) if is_published else None


_OUTPUT = re.compile(
    r"(?P<test>news[a-z]*20\d\d)\.(?:(?P<lp>[a-z]{2,3}-[a-z]{2,3})\.)?(?P<system>.+?)(?:\.(?P<number>\d+))?"
    r"(?:\.[a-z]{2,3}-[a-z]{2,3})?(?:\.txt)?"
)


def published_output(name: str) -> tuple[str, str]:
    """The system of a published output, from its file name: without and with the submission's number.

    >>> published_output("newstest2015.uedin-jhu-phrase.4102.de-en.txt")
    ('uedin-jhu-phrase', 'uedin-jhu-phrase.4102')
    >>> published_output("newstest2013.fr-en.online-A"), published_output("cu-bojar")
    (('online-A', 'online-A'), ('cu-bojar', 'cu-bojar'))
    """
    found = _OUTPUT.fullmatch(name)
    if found is None:
        return name, name
    number = found["number"]
    return found["system"], found["system"] if number is None else f"{found['system']}.{number}"


def year_of(path: Path) -> int | None:
    """The campaign's year in a path, nearest part first."""
    for part in reversed(path.parts):
        if (found := _YEAR.fullmatch(part.lower())) is not None:
            return 2000 + int(found["year"])
    return None


def year_of_testset(testset: str) -> int | None:
    """The year of a test set: declared by the organisers, or else the digits of its name.

    >>> year_of_testset("wmt21.news"), year_of_testset("challengeset2022"), year_of_testset("mine")
    (2021, 2022, None)
    """
    if (declared := facts(testset).year) is not None:
        return declared
    digits = re.search(r"20\d\d", testset)
    return int(digits[0]) if digits else year_of(Path(testset))


def is_reference_free(metric: str, testset: str) -> bool:
    """Whether a metric is known to be reference-free in the test set's year."""
    return describe(metric, year_of_testset(testset)).is_reference_free is True


def is_raw_error(metric: str, testset: str) -> bool:
    """Whether the released tables of the test set's year hold a metric's errors unchanged: lower is better.

    >>> is_raw_error("TER", "wmt12"), is_raw_error("TER", "wmt19")
    (True, False)
    """
    year = year_of_testset(testset)
    return year in describe(metric, year).raw_years


def standard_reference(metric: str, testset: str, lp: str, declared: TestsetFacts | None = None) -> str | None:
    """The reference of a metric whose file states none: the standard reference, or None if reference-free.

    declared: facts of the test set; by default the package's.

    >>> standard_reference("YiSi-1", "wmt19", "en-de"), standard_reference("YiSi-2", "wmt19", "en-de")
    ('ref', None)
    """
    if is_reference_free(metric, testset):
        return None
    return (declared or facts(testset)).evalset(lp).standard_reference or "ref"


def reference_called(name: str) -> str | None:
    """The reference behind a name in a score file; None for `src`.

    WMT20 names reference sets after the test set: `newstest2020`, `newstestB2020`. Letters alone, with or without
    a dash, are the references of that letter; other names are unchanged.
    >>> [reference_called(name) for name in ("newstest2020", "newstestM2020", "src", "A", "ref-B", "stud", "all")]
    ['ref', 'refM', None, 'refA', 'refB', 'stud', 'all']
    """
    if name == REFERENCE_FREE:
        return None
    found = _REFERENCE_SET.fullmatch(name) or _REFERENCE_LETTER.fullmatch(name)
    return name if found is None else f"ref{found['letter']}"


def without_regions(lp: LanguagePair) -> str:
    """A language pair without scripts and countries, in WMT's two-letter codes if they exist.

    >>> without_regions(LanguagePair("en", "cs_CZ")), without_regions(LanguagePair("ces_Latn", "sr_Cyrl_RS"))
    ('en-cs', 'cs-sr')
    """
    return language_pair_called("-".join(side.partition("_")[0] for side in (lp.source, lp.target)))


def testset_of(path: Path) -> str | None:
    """The test set named in a path, nearest part first; None if there is none.

    >>> testset_of(Path("wmt22-news-systems/humaneval/DA/newstest2022-toen/ad-seg-scores-cs-en.csv"))
    'wmt22'
    >>> testset_of(Path("wmt21-news-systems/scores/automatic-scores.tsv"))
    'wmt21.news'
    """
    for part in reversed(path.parts):
        for pattern, testset in _TESTSET_NAMES:
            found = pattern.fullmatch(part.lower())
            if found is not None:
                return testset or f"wmt{found['year']}"
    return None

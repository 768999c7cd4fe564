"""Names as spelled in files (language pairs, metric variants, references), parsed and printed."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

Numbering = Literal["document", "testset"]  # what the numbers of segments count within
LARGEST_SCORE = 1e100
"""In size; sums of squares of larger ones leave the range of floats."""
LEVELS = ("sys", "domain", "doc", "seg")
REFERENCE_FREE = "src"
GRADE = "grade"  # the human score of challenge sets: the expected order of hypotheses
EXPORT_MANIFEST = "scorehouse-export.json"  # lies in each folder of exported Parquet
EXPORTED_SYSTEMS = "system,canonical_name,kind,is_outlier,n_metrics,n_humans"  # columns of systems.csv in exported CSV
UNFINISHED_EXPORT = "scorehouse-export.unfinished"  # lies in a folder while an export is being written
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
WIDTHLESS = rf"[{_CONTROLS}\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
LOOK_ALIKES = {r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]": "-", r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]": " "}
_LANGUAGE = re.compile(r"[a-z]{2,3}(_[A-Z][A-Za-z]+)*")
_LANGUAGE_IN_ANY_CASE = re.compile(r"[A-Za-z]{2,3}(_[A-Za-z]{4})?(_[A-Za-z]{2})?")
_HUMAN_SYSTEM = re.compile(
    r"(ref[A-Z]?|synthetic_ref|postedit[A-Z]?|human([-_.][A-Za-z0-9]+)*|ref-[A-Z])(\.\d+)?", re.IGNORECASE
)


def in_any_case(pattern: str, names: Collection[str]) -> list[str]:
    """The names that a name or shell pattern means: those that match as typed, else those that match in any case.

    A name typed in another case than several names means none of them.

    >>> in_any_case("online-w", ["ONLINE-W", "AIRC"]), in_any_case("b*", ["B2", "b1"]), in_any_case("B*", ["b1", "b2"])
    (['ONLINE-W'], ['b1'], ['b1', 'b2'])
    >>> in_any_case("nllb", ["NLLB", "Nllb"]), in_any_case("m[a]*", ["M[A]*", "M[a]*"])
    ([], [])
    """
    found = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
    if not found:
        alike, folded = {name: name.casefold() for name in names}, pattern.casefold()
        equal = [name for name in names if alike[name] == folded]
        if equal:
            return equal if len(equal) == 1 else []
        found = [name for name in names if fnmatchcase(alike[name], folded)]
    return found


@dataclass(frozen=True)
class LanguagePair:
    """Source and target language.

    >>> LanguagePair.parse("en-sr_Cyrl_RS")
    LanguagePair(source='en', target='sr_Cyrl_RS')
    >>> str(LanguagePair.parse("ces_Latn---deu_Latn"))
    'ces_Latn-deu_Latn'
    """

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    @classmethod
    def parse(cls, text: str) -> "LanguagePair":
        """Split at the first dash (or at `---`).

        Raises ValueError: either side is not a language code.
        """
        source, _, target = text.partition("---") if "---" in text else text.partition("-")
        if not (_LANGUAGE.fullmatch(source) and _LANGUAGE.fullmatch(target)):
            raise ValueError(f"{text!r} is not a language pair such as en-de")
        return cls(source, target)


def written_language(code: str) -> str:
    """A language code in its usual case; other texts unchanged.

    >>> [written_language(code) for code in ("ZH_cn", "SR_cyrl_rs", "EN", "chrF++")]
    ['zh_CN', 'sr_Cyrl_RS', 'en', 'chrF++']
    """
    if not _LANGUAGE_IN_ANY_CASE.fullmatch(code):
        return code
    base, *marks = code.split("_")
    return "_".join([base.lower(), *(mark.title() if len(mark) == 4 else mark.upper() for mark in marks)])


def is_language_pair(text: str) -> bool:
    """Whether a text is the name of a language pair.

    >>> is_language_pair("en-de"), is_language_pair("news")
    (True, False)
    """
    try:
        LanguagePair.parse(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class MetricVariant:
    """A metric with the reference that it used; None for a reference-free metric.

    >>> MetricVariant.parse("UniTE-ref-refA")
    MetricVariant(base_name='UniTE-ref', reference='refA')
    >>> MetricVariant.parse("XCOMET-QE-src").reference is None
    True
    """

    base_name: str
    reference: str | None

    def __str__(self) -> str:
        return f"{self.base_name}-{self.reference or REFERENCE_FREE}"

    @classmethod
    def parse(cls, text: str) -> "MetricVariant":
        """Split at the last dash.

        Raises ValueError: no dash, or nothing before or after it.
        """
        base_name, _, reference = text.rpartition("-")
        if not base_name or not reference:
            raise ValueError(f"{text!r} is not a metric variant such as BLEU-refA")
        return cls(base_name, None if reference == REFERENCE_FREE else reference)


def visible_name(name: str) -> str:
    """A name as displayed: without zero-width characters, outer spaces and decomposed accents.

    All hyphens and all spaces become the same character.

    >>> visible_name("\\u00a0COMET\\u201122\\u200b ")
    'COMET-22'
    """
    name = re.sub(WIDTHLESS, "", unicodedata.normalize("NFC", name))
    for look_alikes, sign in LOOK_ALIKES.items():
        name = re.sub(look_alikes, sign, name)
    return name.strip()


def is_human_name(system: str) -> bool:
    """Whether a system has a name that the shared tasks use for human translations.

    >>> [is_human_name(name) for name in ("ref", "refA", "ref-A", "Human-A.0", "HUMAN", "synthetic_ref", "posteditA")]
    [True, True, True, True, True, True, True]
    >>> [is_human_name(name) for name in ("ONLINE-A", "refiner", "Humanoid", "my_ref")]
    [False, False, False, False]
    """
    return _HUMAN_SYSTEM.fullmatch(system) is not None


def system_kind(system: str) -> str:
    """`human` for a human translation, else `mt` (see `is_human_name`)."""
    return "human" if is_human_name(system) else "mt"

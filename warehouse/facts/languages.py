"""Languages of the shared tasks, and what is known of their pairs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from warehouse.facts.packaged import packaged
from warehouse.names import LanguagePair

DA_TRAINING_YEARS = range(2017, 2021)  # the direct assessments that most trained metrics have learned from


@dataclass(frozen=True)
class Language:
    """A language: da_years are those in which WMT collected direct assessments with it on either side."""

    code: str
    name: str
    script: str
    da_years: tuple[int, ...]

    @property
    def in_da_training(self) -> bool:
        """Whether it was judged in the years that most trained metrics have learned from (2017 to 2020)."""
        return any(year in DA_TRAINING_YEARS for year in self.da_years)


@dataclass(frozen=True)
class LanguagePairFacts:
    """A language pair: direction is into-english, from-english or other."""

    source: Language
    target: Language
    direction: str

    @property
    def in_da_training(self) -> bool:
        """Whether both languages were judged in the years that most trained metrics have learned from."""
        return self.source.in_da_training and self.target.in_da_training


@cache
def languages() -> Mapping[str, Language]:
    """Languages by two- or three-letter code."""
    return {
        code: Language(code, data["name"], data["script"], tuple(data["da_years"]))
        for code, data in packaged("languages.toml").items()
    }


def language(code: str) -> Language | None:
    """A language by its code, which may also name script and country; None where it is not listed.

    >>> language("sr_Latn_RS").script, language("zh_TW").script, language("zh_CN").in_da_training
    ('Latn', 'Hant', True)
    """
    base, *marks = code.split("_")
    found = languages().get(base)
    if found is None:
        return None
    scripts = [mark for mark in marks if re.fullmatch("[A-Z][a-z]{3}", mark)]
    script = scripts[0] if scripts else "Hant" if base == "zh" and "TW" in marks else found.script
    return Language(code, found.name, script, found.da_years)


def language_pair(lp: str) -> LanguagePairFacts | None:
    """Facts of a language pair; None where one of its languages is not listed.

    Raises ValueError: no language pair.
    >>> facts = language_pair("en-is_IS")
    >>> facts.direction, facts.in_da_training, facts.target.name
    ('from-english', False, 'Icelandic')
    """
    parsed = LanguagePair.parse(lp)
    source, target = language(parsed.source), language(parsed.target)
    if source is None or target is None:
        return None
    english = [side.code.split("_")[0] == "en" for side in (source, target)]
    return LanguagePairFacts(
        source, target, "from-english" if english[0] else "into-english" if english[1] else "other"
    )

"""Languages of the shared tasks, and facts on language pairs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from warehouse.facts import packaged
from warehouse.names import LanguagePair, is_language_pair, written_language

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
        """Whether it was judged in the years that most trained metrics use as training data (2017 to 2020)."""
        return any(year in DA_TRAINING_YEARS for year in self.da_years)


@dataclass(frozen=True)
class LanguagePairFacts:
    """A language pair: direction is into-english, from-english or other."""

    source: Language
    target: Language
    direction: str

    @property
    def in_da_training(self) -> bool:
        """Whether both languages were judged in the years that most trained metrics use as training data."""
        return self.source.in_da_training and self.target.in_da_training


@cache
def languages() -> Mapping[str, Language]:
    """Languages by two- or three-letter code."""
    return {
        code: Language(code, data["name"], data["script"], tuple(data["da_years"]))
        for code, data in packaged("languages.toml").items()
    }


@cache
def _of_three_letters() -> Mapping[str, str]:
    listed = packaged("languages.toml").items()
    return {three: code for code, data in listed for three in data.get("three", "").split()}


@cache
def _by_english_name() -> Mapping[str, str]:
    return {one.name.casefold(): code for code, one in languages().items()}


def language_named(name: str) -> str | None:
    """The code that WMT uses for a language, by its English name or any code; None if it is not listed.

    >>> [language_named(name) for name in ("Czech", "deu", "fre", "en", "Klingon")]
    ['cs', 'de', 'fr', 'en', None]
    """
    code = _by_english_name().get(name.strip().casefold()) or two_letters(written_language(name.strip()))
    return code if language(code) is not None else None


def language(code: str) -> Language | None:
    """A language by its code, which may also name script and country; None if it is not listed.

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
    """Facts of a language pair; None if one of its languages is not listed.

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


def is_language_name(text: str) -> bool:
    """Whether a word is the English name of a listed language.

    >>> is_language_name("german"), is_language_name("de")
    (True, False)
    """
    return text.strip().casefold() in _by_english_name()


def language_pair_called(name: str) -> str:
    """A language pair in WMT's two-letter codes; other text is unchanged.

    >>> language_pair_called("eng-jpn"), language_pair_called("en-in"), language_pair_called("ende")
    ('en-ja', 'en-in', 'en-de')
    """
    if re.fullmatch("[a-z]{4}", name):
        return f"{name[:2]}-{name[2:]}"
    source, dash, target = name.partition("-")
    return f"{two_letters(source)}{dash}{two_letters(target)}"


@lru_cache
def pairs_called(text: str) -> str:
    """Comma-separated language pairs in WMT's codes.

    >>> pairs_called("en-cmn,ENG-deu"), pairs_called("JPN-zho_cn"), pairs_called("all")
    ('en-zh,en-de', 'ja-zh_CN', 'all')
    >>> pairs_called("English-German,en→cs"), pairs_called("Hebrew -> English, en>de")
    ('en-de,en-cs', 'he-en,en-de')
    """
    return ",".join(_typed_pair(lp.strip()) if re.search("[-→>]", lp) else lp for lp in text.split(","))


def is_typed_pair(text: str) -> bool:
    """Whether a typed word is a language pair, in any case and spelling, rather than a metric.

    >>> [is_typed_pair(word) for word in ("ja-zh_CN", "JPN-ZHO_cn", "eng_Latn->deu_Latn", "EED-ref", "chrF-refA")]
    [True, True, True, False, False]
    """
    source, dash, target = _typed_pair(text).partition("-")
    if is_language_pair(text):
        return True
    return bool(dash) and language(source) is not None and language(target) is not None


def _typed_pair(text: str) -> str:
    source, dash, target = re.sub(r"---|\s*(→|-?>)\s*", "-", text).partition("-")
    codes = [_by_english_name().get(side.strip().casefold()) or written_language(side) for side in (source, target)]
    return language_pair_called(f"{codes[0]}{dash}{codes[1]}")


def two_letters(code: str) -> str:
    """WMT's two-letter code of a language, if it has one, without its usual script; other codes unchanged.

    >>> [two_letters(code) for code in ("jpn", "liv", "cmn", "zho_Hans", "zh_Hans", "zh_Hant", "zh_CN", "sr_Cyrl_RS")]
    ['ja', 'liv', 'zh', 'zh', 'zh', 'zh_Hant', 'zh_CN', 'sr_Cyrl_RS']
    """
    base, _, marks = code.partition("_")
    base = _of_three_letters().get(base, base)
    known = language(base)
    return base if not marks or (known is not None and marks == known.script) else f"{base}_{marks}"

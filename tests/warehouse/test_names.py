"""Names as files have them: parsed and printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.names import LanguagePair, MetricVariant

CODES = st.from_regex(r"[a-z]{2,3}(_[A-Z][A-Za-z]+){0,2}", fullmatch=True)
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1)


@given(source=CODES, target=CODES)
def test_a_language_pair_reads_back_as_it_was_printed(source: str, target: str) -> None:
    assert LanguagePair.parse(str(LanguagePair(source, target))) == LanguagePair(source, target)
    assert LanguagePair.parse(f"{source}---{target}") == LanguagePair(source, target)


@pytest.mark.parametrize(
    "text", ["", "-", "en", "en-", "-de", "EN-DE", "en_de", "e-de", "en-de-fr", "en--de", "en-de "]
)
def test_what_is_no_language_pair_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a language pair"):
        LanguagePair.parse(text)


@given(base=WORDS, reference=WORDS.filter(lambda word: "-" not in word and word != "src") | st.none())
def test_a_metric_variant_reads_back_as_it_was_printed(base: str, reference: str | None) -> None:
    assert MetricVariant.parse(str(MetricVariant(base, reference))) == MetricVariant(base, reference)


@pytest.mark.parametrize(
    ("text", "base", "reference"),
    [
        ("BLEU-refA", "BLEU", "refA"),
        ("UniTE-src-src", "UniTE-src", None),
        ("XCOMET-QE-src", "XCOMET-QE", None),
        ("COMET-22-refA.refB", "COMET-22", "refA.refB"),
        ("--refA", "-", "refA"),
    ],
)
def test_a_metric_variant_is_split_at_its_last_dash(text: str, base: str, reference: str | None) -> None:
    assert MetricVariant.parse(text) == MetricVariant(base, reference)


@pytest.mark.parametrize("text", ["", "BLEU", "-", "BLEU-", "-refA"])
def test_what_is_no_metric_variant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a metric variant"):
        MetricVariant.parse(text)

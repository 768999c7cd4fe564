"""Options that do something only beside another are refused without it."""

from dataclasses import fields

import pytest

from cli.options import TestFlags
from tests.cli.running import Scorehouse, refused

RANK = ("rank", "sim24", "en-de", "-m", "pa")
PROTOCOL = ("protocol", "wmt24", "--on", "sim24", "--lp", "en-de")
OF_TESTS = {
    "test": ("--test", "williams"),
    "population": ("--population", "systems"),
    "alternative": ("--alternative", "greater"),
    "draws": ("--draws", "10"),
    "alpha": ("--alpha", "0.05"),
    "correction": ("--correction", "holm"),
    "plus_one": ("--plus-one",),
    "mid_p": ("--no-mid-p",),
    "early_stop": ("--early-stop",),
    "unit": ("--unit", "document"),
    "legacy_df": ("--legacy-df",),
    "absolute": ("--absolute",),
    "dask": ("--dask", "localhost:1"),
}
OF_PROTOCOLS = {name: words for name, words in OF_TESTS.items() if name not in ("test", "correction", "early_stop")}


def test_every_option_of_tests_is_here_but_the_number_of_threads() -> None:
    assert {*OF_TESTS, "threads"} == {item.name for item in fields(TestFlags)}


@pytest.mark.parametrize(
    ("command", "words"),
    [*((RANK, words) for words in OF_TESTS.values()), *((PROTOCOL, words) for words in OF_PROTOCOLS.values())],
)
def test_options_of_tests_need_tests(command: tuple[str, ...], words: tuple[str, ...], scorehouse: Scorehouse) -> None:
    refused(scorehouse(*command, *words), 2, words[0].replace("--no-", "--"), "needs --significance")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((*RANK, "--explain", "--pool", "mean"), "--pool does not go with --explain"),
        ((*RANK, "--significance", "--absolute"), "absolute goes with williams, not with bootstrap-normal"),
        ((*RANK, "--explain", "--significance"), "--significance does not go with --explain"),
        ((*RANK, "--explain", "--raw-ties"), "--raw-ties does not go with --explain"),
        ((*RANK, "--explain", "--chart", "a.json"), "--chart does not go with --explain"),
        ((*PROTOCOL, "--versus", "wmt23", "--significance"), "--significance does not go with --versus"),
        (("protocols", "sim24", "--matrix", "-m", "tau_eq"), "--measure needs --thresholds"),
        (("protocols", "sim24", "--thresholds", "--fresh"), "--fresh does not go with --thresholds"),
        (("thresholds", "sim24", "en-de", "--points", "5"), "--points needs --curve or --chart"),
        (("noise", "sim24", "en-de", "--oracles", "--draws", "5"), "--draws does not go with --oracles"),
        (("noise", "sim24", "en-de", "--kind", "system", "--share", "0.1"), "--share needs --kind outliers"),
        (("noise", "sim24", "en-de", "--kind", "outliers", "--strength", "1"), "--strength needs another --kind"),
        (("plan", "sim24", "en-de", "A", "B", "--tell", "systems", "-m", "pa"), "--measure does not go with --tell"),
        (("plan", "sim24", "en-de", "A", "B", "--tell", "systems", "--draws", "90"), "--draws does not go with --tell"),
        (("systems", "sim24", "en-de", "--system-score", "mean"), "--system-score needs --scorer"),
        *(
            ((*command, *words), f"{words[0]} needs --intersection")
            for command in (("systems", "sim24", "en-de"), ("scatter", "sim24", "en-de", "simBLEU"))
            for words in (
                ("--metrics", "simBLEU"),
                ("--primary",),
                ("--own",),
                ("--all-metrics",),
                ("--reference-free",),
            )
        ),
        *(
            (("systems", "sim24", "en-de", "--test", test, flag, "9"), f"{flag} does not go with --test {test}")
            for test in ("wilcoxon", "paired-t")
            for flag in ("--draws", "--seed")
        ),
        *(
            (("annotators", "sim24", "en-de", "--view", "pairs", *words), f"{words[0]} does not go with --view pairs")
            for words in (("--draws", "9"), ("--seed", "9"), ("--halves", "judgements"), ("--unit", "document"))
        ),
        (
            ("systems", "sim24", "en-de", "--scorer", "simBLEU", "--round-human", "1"),
            "round_human goes with human scores",
        ),
        (("rank", "sim24", "en-de", "-m", "pa", "--seed", "1"), "--seed needs something that is drawn"),
        (("rank", "sim24", "en-de", "-m", "spa(n=inf)", "--seed", "1"), "--seed needs something that is drawn"),
        ((*RANK, "--explain", "--strict"), "--strict does not go with --explain"),
        *(
            ((*command, "-m", "kendall(by=item)", *words), f"{name} goes with a measure of systems")
            for words, name in ((("--system-score", "mean"), "system_score"), (("--raw-ties",), "raw_ties"))
            for command in (
                ("rank", "sim24", "en-de"),
                ("rank", "sim24", "en-de", "--by", "domain"),
                ("rank", "sim24", "en-de", "--significance"),
                ("compare", "sim24", "en-de"),
                ("trend", "sim24", "en-de"),
            )
        ),
        (("protocols", "sim24", "--thresholds", "--seed", "1"), "--seed does not go with --thresholds"),
        (("protocols", "sim24", "--thresholds", "--raw-ties"), "raw_ties goes with a measure of systems"),
        (
            ("compare", "sim24", "en-de", "simBLEU", "simchrF", "--correction", "holm"),
            "correction 'holm' is for several",
        ),
        *(
            (("trend", "sim24", "--within", *words), f"{words[0]} does not go with --within")
            for words in (("--by", "kind"), ("--anchor", "simBLEU"))
        ),
        *(
            (("trend", "sim24", view, "--alpha", "0.01"), f"--alpha does not go with {view}")
            for view in ("--within", "--over-years", "--bridges")
        ),
        (("trend", "sim24", "--within", "--pool", "mean"), "--pool does not go with --within"),
        (("compute", "chrf", "sim24", "en-de", "--tokenize", "zh", "--dry-run"), "--tokenize needs bleu"),
        (("paper", "--check"), "--check needs a paper"),
        (("paper", "thompson-2024", "--draws", "5"), "--draws needs a paper"),
    ],
)
def test_an_option_without_effect_is_refused(words: tuple[str, ...], line: str, scorehouse: Scorehouse) -> None:
    assert refused(scorehouse(*words), 2).startswith(f"error: {line}")


@pytest.mark.parametrize("beside", [("--significance",), ("--intervals",)])
def test_resamples_are_those_of_tests_and_of_intervals(beside: tuple[str, ...], scorehouse: Scorehouse) -> None:
    assert scorehouse(*RANK, "--draws", "10", *beside).code == 0

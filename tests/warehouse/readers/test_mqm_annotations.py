from pathlib import Path

import polars as pl
import pytest

from tests.helpers import beside_data, together
from tests.warehouse.readers.reading import Whole, assert_no_row_fits, read
from tests.warehouse.readers.reading import answer as asked
from tests.warehouse.readers.samples import MQM_HEADER, mqm_row
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.mqm import MqmAnnotationsReader
from warehouse.readers.records import numbered
from warehouse.wording import option

NEW = (
    "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    "\t# Documentation: columns and how to read them\n"
)
TED = Path("wmt-mqm-human-evaluation/ted/ende/mqm_ted_ende.tsv")
GENERAL = Path("wmt-mqm-human-evaluation/generalMT2023/zhen/mqm_generalMT2023_zhen.tsv")
READER = MqmAnnotationsReader()


def values(records: Whole) -> list[float]:
    return records.judgements["value"].to_list()


def test_every_column_of_a_row_arrives() -> None:
    records = read(READER, TED, MQM_HEADER + mqm_row(target='Übung <v>macht</v> den "Meister'))
    assert records.faults == []
    assert records.scores_from_judgements
    columns = ["line", "testset", "lp", "scorer", "system", "document", "segment", "rater", "value", "n", "status"]
    assert records.judgements.select(columns).rows() == [
        (2, "wmt21.tedtalks", "en-de", "mqm", "Nemo", "talk.1", 7, "rater1", -1.0, 1, "valid")
    ]
    assert records.ratings.rows() == [(2, "Style/Awkward", "Minor", 1.0, 6, 11, False)]


def test_the_later_generation_has_other_names_and_documentation_in_its_header() -> None:
    line = "GPT-4\tdoc-9\t1\t88\trater5\t<v>源</v>\ttarget\tSource issue\tmajor\t{}\n"
    records = read(READER, GENERAL, NEW + line)
    assert records.faults == []
    columns = ["testset", "lp", "system", "document", "segment", "rater", "value"]
    assert records.judgements.select(columns).rows() == [("wmt23", "zh-en", "GPT-4", "doc-9", 88, "rater5", 0.0)]
    assert records.ratings.rows() == [(2, "Source issue", "major", 0.0, 0, 1, True)]


@together(
    ("category", "severity", "points"),
    [
        ("Accuracy/Mistranslation", "Major", 5.0),
        ("Accuracy/Mistranslation", "critical", 5.0),
        ("Accuracy/Mistranslation", "minor", 1.0),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Fluency/Punctuation", "Major", 5.0),
        ("Style/Awkward", "Neutral", 0.0),
        ("Non-translation!", "Major", 25.0),
        ("Non-translation", "Major", 25.0),
        ("Source error", "Major", 5.0),
        ("Reinterpretation", "Major", 0.0),
        ("Accuracy/Creative Reinterpretation", "Major", 0.0),
        ("Non translation", "Major", 25.0),
        ("Non_translation", "Major", 25.0),
        ("Fluency / Punctuation", "Minor", 0.1),
        ("fluency/punctuation ", "Minor", 0.1),
        ("Source_issue", "Minor", 0.0),
        ("No-error", "No-error", 0.0),
        ("No-error", "no-error", 0.0),
    ],
)
def test_weights_of_the_default_scheme(category: str, severity: str, points: float) -> None:
    assert values(read(READER, TED, MQM_HEADER + mqm_row(category, severity))) == [-points]


@together(("testset", "points"), [("ted", 1.0), ("generalMT2022", 0.0), ("generalMT2024", 0.0)])
def test_errors_of_the_source_cost_nothing_since_wmt22(testset: str, points: float) -> None:
    assert values(read(READER, Path(f"mqm_{testset}_ende.tsv"), MQM_HEADER + mqm_row("Source error"))) == [-points]


def test_errors_of_one_annotator_add_up_without_rounding_noise() -> None:
    spans = ("<v>ein</v> Ziel hier", "ein <v>Ziel</v> hier", "ein Ziel <v>hier</v>")
    commas = "".join(mqm_row("Fluency/Punctuation", target=target) for target in spans)
    records = read(READER, TED, MQM_HEADER + commas + mqm_row("Other", "Major"))
    assert values(records) == [-5.3]


def test_a_line_that_repeats_another_counts_once_and_is_reported() -> None:
    lines = mqm_row("Other", "Major") + mqm_row("Fluency/Punctuation") + mqm_row("Other", "Major", rater="rater2")
    records = read(READER, TED, MQM_HEADER + lines * 2)
    assert values(records) == [-5.1, -5.0]
    assert records.ratings.height == 3
    assert records.notes[1] == "3 repeated lines, counted once"


def test_equal_lines_that_mark_no_place_are_errors_of_their_own() -> None:
    lines = mqm_row("Fluency/Grammar", target="ein Ziel hier") * 3 + mqm_row("No-error", "No-error", segment="8") * 2
    records = read(READER, TED, MQM_HEADER + lines)
    assert values(records) == [-3.0, 0.0]
    assert records.ratings.height == 3
    assert records.notes[1] == "2 errors listed again, each counted as a separate error"


def test_each_annotator_has_a_judgement_also_without_an_error() -> None:
    rows = (
        mqm_row("Other", "Major")
        + mqm_row("No-error", "No-error", rater="rater2")
        + mqm_row(rater="rater3", segment="8")
    )
    records = read(READER, TED, MQM_HEADER + rows)
    found = records.judgements.select("judgement", "segment", "rater", "value").rows()
    assert found == [(2, 7, "rater1", -5.0), (3, 7, "rater2", 0.0), (4, 8, "rater3", -1.0)]
    assert records.ratings["judgement"].to_list() == [2, 4]
    assert records.notes == ["3 judgements with 2 errors, weights google-mqm"]


def test_no_translation_replaces_all_other_errors_of_its_annotator() -> None:
    rows = [
        mqm_row("Other", "Major"),
        mqm_row("Non-translation!", "Major"),
        mqm_row("Non-translation!", "Major", target="<v>ein Ziel hier</v>"),
        mqm_row("Other", "Major", rater="rater2"),
    ]
    records = read(READER, TED, MQM_HEADER + "".join(rows))
    assert values(records) == [-25.0, -5.0]
    assert records.ratings["weight"].to_list() == [0.0, 25.0, 0.0, 5.0]


def test_planted_errors_are_excluded_and_counted() -> None:
    records = read(READER, TED, MQM_HEADER + mqm_row() + mqm_row("FoundFiles", "HOTW-test"))
    assert values(records) == [-1.0]
    assert records.notes == ["1 judgement with 1 error, weights google-mqm, 1 planted error excluded"]


def test_an_error_without_marks_has_no_span() -> None:
    records = read(READER, TED, MQM_HEADER + mqm_row(target="nothing marked") + mqm_row(target="<v>never closed"))
    found = records.ratings.select("span_start", "span_end", "is_source_error").rows()
    assert found == [(None, None, None), (None, None, False)]


def test_the_claim_names_the_averages_that_it_stands_behind() -> None:
    claim = asked(READER, TED, MQM_HEADER.encode(), LoadHints())
    assert isinstance(claim, Claim)
    assert claim.evalsets == (("wmt21.tedtalks", "en-de"),)
    assert claim.origin == "wmt21.tedtalks/en-de/mqm.annotations"
    assert claim.companion == "wmt21.tedtalks/en-de/mqm.avg_seg_scores"
    assert claim.is_annotation


@together(
    ("path", "given", "answer"),
    [
        ("mine/mqm_test_ende.tsv", LoadHints(), option("testset")),
        ("wmt24/annotations.tsv", LoadHints(), option("lp")),
        ("wmt24/enes/annotations.tsv", LoadHints(), ("wmt24", "en-es")),
        ("wmt24/annotations.tsv", LoadHints(lp="en-es"), ("wmt24", "en-es")),
        ("mine/mqm_test_ja-zh.tsv", LoadHints(testset="mine"), ("mine", "ja-zh")),
        ("newstest2020/zhen/mqm_newstest2020_zhen.tsv", LoadHints(), ("wmt20", "zh-en")),
    ],
)
def test_test_set_and_languages_come_from_the_path_or_are_asked_for(
    path: str, given: LoadHints, answer: str | tuple[str, str]
) -> None:
    claim = asked(READER, Path(path), MQM_HEADER.encode(), given)
    if isinstance(answer, str):
        assert isinstance(claim, str)
        assert answer in claim
    else:
        assert isinstance(claim, Claim)
        assert claim.evalsets == (answer,)


@together(
    ("name", "human"),
    [
        ("mqm_newstest2020_ende.tsv", "mqm"),
        ("mqm_newstest2020_ende.no-postedits.tsv", "mqm-no-postedits"),
        ("mqm_newstest2020_ende.3ratingsPerSegment.tsv", "mqm-3ratingsPerSegment"),
        ("sxs_mqm_newstest2020_ende.3ratingsPerSegment.tsv", "mqm-sxs-3ratingsPerSegment"),
    ],
)
def test_a_part_of_the_annotations_is_a_human_score_of_its_own(name: str, human: str) -> None:
    claim = asked(READER, Path(name), MQM_HEADER.encode(), LoadHints(testset="wmt20"))
    assert isinstance(claim, Claim)
    assert (claim.human, claim.origin) == (human, f"wmt20/en-de/{human}.annotations")


def test_errors_of_sources_alone_are_no_human_score() -> None:
    claim = asked(READER, Path("mqm_newstest2020_ende.source-errors.tsv"), MQM_HEADER.encode(), LoadHints())
    assert claim == "errors in source texts only, which do not score translations"


def test_a_row_that_does_not_fit_is_a_fault_with_its_line() -> None:
    rows = [
        (mqm_row(severity="Terrible"), "severity 'Terrible'"),
        (mqm_row(severity="trivial"), "severity 'trivial'"),
        (mqm_row("Acuracy/Mistranslation"), "category 'Acuracy/Mistranslation'"),
        (mqm_row("Nontranslatable"), "category 'Nontranslatable'"),
        (mqm_row(segment="x"), "segment 'x'"),
        (mqm_row(segment="0"), "segment numbers that begin at 0"),
        (mqm_row(system=""), "no system"),
        ("Nemo\ttalk.1\t3\n", "3 columns"),
        ("\n", "a blank line"),
    ]
    assert_no_row_fits(READER, TED, MQM_HEADER + mqm_row(), rows)


def test_a_comment_may_be_left_out() -> None:
    records = read(READER, TED, MQM_HEADER + mqm_row().replace("\t\n", "\n"))
    assert records.faults == []
    assert values(records) == [-1.0]


@pytest.mark.parametrize(
    ("folder", "pair", "n", "unsure"),
    [
        ("data/wmt-mqm-human-evaluation/ted/ende", "ende", 7406, ["Fluency/Display Major"]),
        ("more/google-mqm", "zhen", 7935, ["Accuracy/Untranslated text Major", "Fluency/Register Major"]),
    ],
)
def test_real_annotations_give_the_official_averages(folder: str, pair: str, n: int, unsure: list[str]) -> None:
    path = beside_data(folder, f"mqm_ted_{pair}.tsv")
    records = read(READER, path)
    assert records.faults == []
    means = records.judgements.group_by("system", "segment").agg(pl.col("value").mean())
    ours = {(system, segment): value for system, segment, value in means.iter_rows()}
    official = {}
    for line in path.with_name(f"mqm_ted_{pair}.avg_seg_scores.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        system, value, segment = line.split()
        if value != "None":
            official[system, int(segment)] = float(value)
    both = ours.keys() & official.keys()
    assert len(both) == 6877
    assert [key for key in both if abs(ours[key] - official[key]) > 5.01e-7] == []
    assert {system for system, _ in ours.keys() - official.keys()} <= {"ref", "refB"}  # the averages call them ref-A…
    assert len(ours) == n
    assert unsure == never_alone(records)


def never_alone(records: Whole) -> list[str]:
    """Kinds of errors whose weight no official score shows by itself, as others stand beside them wherever they are."""
    errors = records.ratings.join(records.judgements.select("judgement", "system", "segment"), on="judgement")
    kinds = errors.with_columns(kind=pl.concat_str("category", pl.lit(" "), "severity"))
    alone = kinds.filter(pl.col("kind").n_unique().over("system", "segment") == 1)
    return sorted(set(kinds["kind"]) - set(alone["kind"]))


def test_an_error_that_is_listed_twice_is_noted() -> None:
    """Rows that are the same to the last sign are one; those with another comment may be two errors."""
    again = mqm_row().removesuffix("\n") + "again\n"
    records = read(READER, TED, MQM_HEADER + mqm_row() + again + mqm_row(category="Style/Other"))
    assert "1 error listed again, each counted as a separate error" in records.notes
    assert not any("listed again" in note for note in read(READER, TED, MQM_HEADER + mqm_row()).notes)


def test_a_number_within_the_document_stays_beside_the_line() -> None:
    header = "system\tdoc\tdocSegId\tglobalSegId\trater\tcategory\tseverity\n"
    row = "A\tnews_d:en-de\t2\t7\tr\tFluency/Grammar\tMinor\n"
    records = read(READER, TED, header + row)
    assert records.judgements.select("document", "index", "segment").rows() == [("news_d:en-de", 2, 7)]
    by_document = numbered(records.judgements, "document")
    assert by_document.select("index", "segment").rows() == [(2, None)]

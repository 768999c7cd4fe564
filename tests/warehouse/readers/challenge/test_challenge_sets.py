"""Challenge sets: each format with its items, hypotheses, grades and scores; what is excluded, and what is refused."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import metaeval
from metaeval.studies.tables.counts import pair_counts
from queries.evalsets import expand
from queries.slices import Slice
from tests import sharing
from tests.helpers import beside_data, tiny_layout, together
from tests.warehouse.building import ask
from warehouse import LoadReport, QuestionError, SourceError, Warehouse, load
from warehouse.own.sacrebleu import compute
from warehouse.readers.claims import LoadHints

Row = dict[str, Any]


def demetr_row(number: int, language: str = "german", **more: Any) -> Row:
    row = {
        "id": number,
        "src_sent": f"Quelle {number}",
        "eng_sent": f"reference {number}",
        "mt_sent": f"translation {number}",
        "pert_sent": f"perturbed {number}",
        "lang_tag": language,
        "pert_check": True,
        "severity": "critical",
        "pert_name": "critical_id7_antonym",
    }
    return {**row, **more}


def written(path: Path, rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


GRADES = """
    SELECT s.segment, g.phenomenon, g.phenomenon_class, s.system, s.value
    FROM human_scores AS s
    JOIN testset AS t ON t.name = s.testset
    JOIN evalset AS e ON e.testset_id = t.testset_id AND e.lp = s.lp
    JOIN segment AS g ON g.evalset_id = e.evalset_id AND g.segment = s.segment
    WHERE s.human = 'grade' AND s.testset = $testset AND s.lp = $lp
    ORDER BY ALL
    """


def test_demetr_s_perturbations_of_a_language_are_one_evaluation_set(tmp_path: Path, database: Path) -> None:
    folder = tmp_path / "dataset"
    items = [demetr_row(1), demetr_row(2, "czech"), demetr_row(3), demetr_row(4, pert_check=False)]
    written(folder / "critical_id7_antonym.json", items)
    tense = demetr_row(1, severity="major", pert_name="major_id17_tense")
    written(folder / "major_id17_tense.json", [tense])
    report = load([folder], database)
    assert not report.faults
    assert "demetr de-en: 1 item excluded, the check failed" in report.notes
    rows = [
        (1, "critical_id7_antonym", "critical"),
        (2, "critical_id7_antonym", "critical"),
        (3, "major_id17_tense", "major"),
    ]
    expected = [(*row, *graded) for row in rows for graded in (("perturbed", 0.0), ("translation", 1.0))]
    assert ask(database, GRADES, testset="demetr", lp="de-en") == expected
    texts = ask(database, "SELECT kind, name, text FROM texts WHERE lp = 'de-en' AND segment = 2 ORDER BY ALL")
    assert texts == [
        ("output", "perturbed", "perturbed 3"),
        ("output", "translation", "translation 3"),
        ("reference", "ref", "reference 3"),
        ("source", None, "Quelle 3"),
    ]
    again = load([folder], database)
    assert {evalset.status for evalset in again.evalsets} == {"unchanged"}


@pytest.mark.slow
def test_a_further_file_of_demetr_keeps_the_items_of_the_others(tmp_path: Path, database: Path) -> None:
    folder = tmp_path / "dataset"
    written(folder / "major_id17_tense.json", [demetr_row(1, pert_name="major_id17_tense")])
    assert not load([folder], database).faults
    written(folder / "critical_id7_antonym.json", [demetr_row(1), demetr_row(2)])
    assert not load([folder], database).faults
    found = [row[:2] for row in ask(database, GRADES, testset="demetr", lp="de-en")]
    assert sorted(Counter(name for _, name in found).items()) == [("critical_id7_antonym", 4), ("major_id17_tense", 2)]


def test_wrong_objects_of_demetr_are_faults_and_so_is_a_file_that_was_cut(tmp_path: Path, database: Path) -> None:
    wrong: dict[str, object] = {
        "object 2 without mt_sent": demetr_row(2, mt_sent=None),
        "object 2: language 'klingon'": demetr_row(2, "klingon"),
        "object 2 without src_sent": "text",
        "no JSON": demetr_row(2),
    }
    paths = {
        found: written(tmp_path / f"critical_id{n}_antonym.json", [demetr_row(1), row])
        for n, (found, row) in enumerate(wrong.items())
    }
    paths["no JSON"].write_text(paths["no JSON"].read_text("utf-8")[:-3], "utf-8")
    report = load(list(paths.values()), database)
    told = [(fault.path, fault.found) for fault in report.faults]
    assert [
        found for found, path in paths.items() if not any(at == str(path) and found in what for at, what in told)
    ] == []
    assert {evalset.status for evalset in report.evalsets} == {"refused"}


OWN = (
    "item\tphenomenon\tclass\thypothesis\tgrade\tlp\tsource\treference\ttext\tKiwi-src\tBLEU\n"
    "a\tidiom\tmistranslation\tgood\t2\ten-de\ts\tr\tt1\t0.9\t30\n"
    "a\tidiom\tmistranslation\tfair\t1\ten-de\ts\tr\tt2\t0.9\t40\n"
    "a\tidiom\tmistranslation\tpoor\t1\ten-de\ts\tr\tt3\t0.1\t10\n"
    "b\tnumber\tmistranslation\tgood\t2\ten-de\ts\tr\tt4\t0.5\t20\n"
    "b\tnumber\tmistranslation\tpoor\t1\ten-de\ts\tr\tt5\t0.6\t10\n"
)


def _demetr(*languages: str) -> str:
    return json.dumps([demetr_row(number, language) for number, language in enumerate(languages, start=1)], indent=1)


def _table(*lps: str) -> str:
    header, rows = OWN.split("\n", 1)
    return "\n".join([header, *("".join(rows.replace("en-de", lp)).rstrip("\n") for lp in lps), ""])


def _aces(*lps: str) -> str:
    header = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\tBLEU-good\tBLEU-bad\n"
    return header + "".join(f"s\tg\tb\tr\taddition\t{lp}\t40\t30\n" for lp in lps)


@pytest.mark.parametrize(
    ("name", "made", "both"),
    [
        ("critical_id7_antonym.json", _demetr, ("german", "czech")),
        ("mine.tsv", _table, ("en-de", "en-cs")),
        ("aces.tsv", _aces, ("en-de", "en-cs")),
    ],
)
def test_a_language_pair_that_a_file_no_longer_has_goes_with_its_segments(
    name: str, made: Callable[..., str], both: tuple[str, str], tmp_path: Path, database: Path
) -> None:
    path, n = tmp_path / name, "SELECT lp, count(*) FROM {} GROUP BY lp ORDER BY lp"
    kinds = ("human_scores", "segments", "texts")
    path.write_text(made(*both), "utf-8")
    assert not load([path], database).faults
    assert {kind: len(ask(database, n.format(kind))) for kind in kinds} == dict.fromkeys(kinds, 2)
    path.write_text(made(both[0]), "utf-8")
    report = load([path], database)
    assert not report.faults
    assert [(one.status, one.n_rows > 0) for one in report.evalsets] == [("removed", False), ("replaced", True)]
    again = load([path], database)
    assert {one.status for one in again.evalsets} == {"unchanged"}
    for kind in kinds:
        (left,) = ask(database, n.format(kind))
        assert left[0] in ("de-en", "en-de")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read it only."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.tsv").write_text(OWN, "utf-8")
    report = load([folder / "mine.tsv"], folder / "w.duckdb")
    assert not report.faults
    return folder / "w.duckdb"


@pytest.mark.slow
def test_a_table_of_one_s_own_is_ranked_by_accuracy(own: Path) -> None:
    """Item a: good over fair, good over poor; fair and poor should tie, and do not count. Item b: good over poor."""
    with Warehouse.open(own) as warehouse:
        found = metaeval.rank(warehouse, "mine", "en-de", ["accuracy", "accuracy(ties=half)"])
        values = {(row["metric"], row["measure"]): row["value"] for row in found.frame.rows(named=True)}
    assert values == {
        ("BLEU-ref", "accuracy(by=item)"): 0.75,
        ("Kiwi-src", "accuracy(by=item)"): 0.25,
        ("BLEU-ref", "accuracy(by=item, ties=half)"): 0.75,
        ("Kiwi-src", "accuracy(by=item, ties=half)"): 0.375,
    }
    tied = found.frame.filter(measure="accuracy(by=item)").select("metric", "n_tied_metric")
    assert dict(tied.iter_rows()) == {"BLEU-ref": 0.0, "Kiwi-src": 1.0}


def test_each_phenomenon_is_ranked_by_itself(own: Path) -> None:
    with Warehouse.open(own) as warehouse:
        frame = metaeval.rank(warehouse, "mine", "en-de", "accuracy", by="phenomenon").frame
        values = {(row["phenomenon"], row["metric"]): row["value"] for row in frame.rows(named=True)}
        assert values == {
            ("idiom", "BLEU-ref"): 0.5,
            ("idiom", "Kiwi-src"): 0.5,
            ("number", "BLEU-ref"): 1.0,
            ("number", "Kiwi-src"): 0.0,
        }
        one = metaeval.rank(warehouse, "mine", "en-de", "accuracy", phenomenon="numb*")
        assert "|phenomenon:numb*|" in one.signature
        assert one.frame["n_segments"].to_list() == [1, 1]
        with pytest.raises(QuestionError, match=r"unknown phenomenon 'idoim'.*'idiom'"):
            metaeval.rank(warehouse, "mine", "en-de", "accuracy", phenomenon="idoim")


@pytest.mark.slow
def test_all_test_sets_are_those_of_tasks(own_beside_a_task: Path) -> None:
    with Warehouse.open(own_beside_a_task) as warehouse:
        assert expand(warehouse, "all", "all").chosen == (("tiny24", "en-de"),)
        assert expand(warehouse, "mine", "all").chosen == (("mine", "en-de"),)


def test_wrong_rows_of_a_table_are_faults(tmp_path: Path, database: Path) -> None:
    wrong = {
        "Kiwi-src 'x'": ("\t0.9\t40", "\tx\t40"),
        "columns": ("\t0.9\t40", "\t0.9"),
        "twice": ("b\tnumber\tmistranslation\tpoor", "b\tnumber\tmistranslation\tgood"),
        "language pair 'German'": ("fair\t1\ten-de", "fair\t1\tGerman"),
        "grade 'nan?'": ("fair\t1\t", "fair\tnan?\t"),
    }
    paths = {found: tmp_path / f"mine{n}.tsv" for n, found in enumerate(wrong)}
    for found, path in paths.items():
        path.write_text(OWN.replace(*wrong[found], 1), "utf-8")
    told = [(fault.path, fault.found) for fault in load(list(paths.values()), database).faults]
    assert [
        found for found, path in paths.items() if not any(at == str(path) and found in what for at, what in told)
    ] == []


@pytest.mark.slow
@together("name", ["aces2.tsv", "aces-2.tsv", "my_aces_v3.tsv"])
def test_another_challenge_set_in_the_form_of_aces_needs_its_name(name: str, tmp_path: Path, database: Path) -> None:
    header = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\tBLEU-good\tBLEU-bad\n"
    (tmp_path / name).write_text(header + "s\tg\tb\tr\taddition\ten-de\t40\t30\n", "utf-8")
    with pytest.raises(SourceError, match="a challenge set in ACES format; "):
        load([tmp_path / name], database)
    report = load([tmp_path / name], database, given=LoadHints(testset="second"))
    assert [evalset.testset for evalset in report.evalsets] == ["second"]


@pytest.mark.slow
def test_aces_has_a_good_and_an_incorrect_translation_in_each_row(tmp_path: Path, database: Path) -> None:
    header = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\tBLEU-good\tBLEU-bad\n"
    rows = (
        "s\tg\tb\tr\taddition\ten-de\t40\t30\n"
        + "s\tg\tb\tr\tomission\ten-de\t10\t30\n"
        + "s\tg\tb\tr\tomission\tfr-de\t1\t0\n"
    )
    (tmp_path / "aces.tsv").write_text(header + rows, "utf-8")
    report = load([tmp_path / "aces.tsv"], database)
    assert not report.faults
    assert {(evalset.testset, evalset.lp) for evalset in report.evalsets} == {("aces", "en-de"), ("aces", "fr-de")}
    with Warehouse.open(database) as warehouse:
        frame = metaeval.rank(warehouse, "aces", "en-de", "accuracy", by="phenomenon").frame
    assert dict(frame.select("phenomenon", "value").iter_rows()) == {"addition": 1.0, "omission": 0.0}


def submitted(folder: Path, name: str = "mslc-a", **parts: str) -> Path:
    for part, text in parts.items():
        path = folder / name / f"{name}.en-de.{part.replace('_', '-')}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


PARTS = {
    "src": "s1\ns2\n",
    "ref": "r1\nr2\n",
    "hyp_1": "bad 1\nbad 2\n",
    "hyp_2": "good 1\ngood 2\n",
    "meta": "news\tdoc\nnews\tdoc\n",
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a set, which has a copy elsewhere, and one whose order is unknown; read it only."""
    folder = tmp_path_factory.mktemp("sets")
    submitted(folder / "in", **PARTS)
    submitted(folder / "in", "mslc-b", **PARTS)
    copy = submitted(folder / "in" / "copied", **PARTS | {"meta": "news\tother\nnews\tother\n"}) / "mslc-a"
    copy.rename(copy.with_name("MSLC-A"))
    assert not load([folder / "in"], folder / "w.duckdb").faults
    return folder / "w.duckdb"


@pytest.mark.slow
def test_a_submitted_set_has_its_texts_and_known_grades_and_a_copy_elsewhere_does_not_count(sets: Path) -> None:
    found = ask(sets, GRADES, testset="challengeset2025.mslc-a", lp="en-de")
    assert [(segment, system, grade) for segment, _, _, system, grade in found] == [
        *((1, "hyp-1", 1.0), (1, "hyp-2", 2.0), (2, "hyp-1", 1.0), (2, "hyp-2", 2.0))
    ]
    query = "SELECT text FROM texts WHERE testset = 'challengeset2025.mslc-a' AND name = 'hyp-2' ORDER BY segment"
    assert ask(sets, query) == [("good 1",), ("good 2",)]
    assert ask(sets, "SELECT DISTINCT document FROM segments") == [("doc",)]


def test_parts_of_a_submitted_set_with_another_number_of_lines_are_faults(tmp_path: Path, database: Path) -> None:
    report = load([submitted(tmp_path, **PARTS | {"hyp_2": "good 1\n"})], database)
    assert ["1 line" in fault.found and "hyp-2" in fault.path for fault in report.faults] == [True]


def test_a_challenge_set_whose_order_is_unknown_is_one_and_ranks_nothing(sets: Path) -> None:
    query = "SELECT kind FROM testsets WHERE testset = 'challengeset2025.mslc-b'"
    assert ask(sets, query) == [("challenge",)]
    with Warehouse.open(sets) as warehouse:
        for lp in ("en-de", "all"):
            with pytest.raises(QuestionError, match="mslc-b: a challenge set without grades, so no output is known"):
                metaeval.rank(warehouse, "challengeset2025.mslc-b", lp)


def test_a_set_without_grades_is_refused_only_where_human_scores_are_needed(sets: Path) -> None:
    name = "challengeset2025.mslc-b"
    with Warehouse.open(sets) as warehouse:
        for lp in ("all", "en-de"):
            for question in (metaeval.means, metaeval.correlations):
                with pytest.raises(QuestionError, match=f"no metric scores of {name} en-de are loaded"):
                    question(warehouse, name, lp)
            for question in (metaeval.counts, metaeval.systems):
                with pytest.raises(QuestionError, match=f"`scorehouse means {name}` has the metrics' scores"):
                    question(warehouse, name, lp)


def test_pairs_of_mslc_a_are_counted_as_published(further_load: tuple[Path, LoadReport]) -> None:
    """In how many of 32 items the later of two systems scores higher, or the same, of ten metrics."""
    database, _ = further_load
    expected = json.loads(beside_data("expected", "challenge", "wmt25.mslc-a.json").read_text("utf-8"))
    assert len(expected) == 10
    with Warehouse.open(database) as warehouse:
        for one in expected:
            pairs = [key for key in one if ">" in key]
            assert len(pairs) == 15
            for key in pairs:
                later, earlier = key.split(">")
                asked = Slice(
                    "challengeset2025.mslc-a",
                    "ja-zh_CN",
                    systems=(later, earlier),
                    metrics=(one["metric"],),
                    status="all",
                )
                counts = pair_counts(warehouse, asked, "item", 0.0).frame
                assert counts["metric"].n_unique() == 1
                found = (counts["n_concordant"].sum(), counts["n_tied_metric"].sum())
                assert found == (one[key], one[f"{later}={earlier}"]), (one["metric"], key)


@pytest.mark.long("sentence BLEU and chrF of 41,000 hypotheses: 2 minutes")
def test_right_and_tied_items_of_demetr_s_perturbations(tmp_path: Path, database: Path) -> None:
    assert not load([beside_data("more", "demetr")], database).faults
    with beside_data("expected", "challenge", "demetr_sacrebleu.tsv").open(encoding="utf-8", newline="") as file:
        expected = {row["perturbation"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert len(expected) == 24
    found: Counter[tuple[str, str]] = Counter()
    lps = [f"{language}-en" for language in ("cs", "de", "es", "fr", "hi", "it", "ja", "pl", "ru", "zh")]
    for lp in lps:
        compute(database, ["bleu", "chrf"], "demetr", lp)
    with Warehouse.open(database) as warehouse:
        for lp in lps:
            for name in expected:
                asked = Slice("demetr", lp, phenomenon=(name,), user_metrics=True)
                counts = pair_counts(warehouse, asked, "item", 0.0).frame
                for metric, right, tied, wrong in (
                    counts.group_by("metric")
                    .agg(pl.col("n_concordant", "n_tied_metric", "n_discordant").sum())
                    .iter_rows()
                ):
                    which = "BLEU" if "-BLEU-" in metric else "chrF"
                    found[name, f"{which}_right"] += right
                    found[name, f"{which}_tied"] += tied
                    found[name, f"{which}_n"] += right + tied + wrong
    for name, row in expected.items():
        for which in ("BLEU", "chrF"):
            assert found[name, f"{which}_n"] == int(row["n"])
            for column in (f"{which}_right", f"{which}_tied"):
                assert found[name, column] == int(row[column]), (name, column)


ACES = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\tA-good\tA-bad\tB-good\tB-bad\n"
PHENOMENA = (
    *("addition", "omission", "nonsense", "copy-source", "untranslated-vs-synonym", "do-not-translate"),
    *("hyponym-replacement", "hypernym-replacement", "commonsense-only-ref-ambiguous", "similar-language-low"),
    *("punctuation:deletion_all", "xnli-omission-neutral"),
)


def _aces(tmp_path: Path, phenomena: tuple[str, ...], *, gap: bool = False) -> Path:
    """Three items a phenomenon in two language pairs; A is right, wrong or tied in turn, B always right."""
    rows, n = [], 0
    for phenomenon in phenomena:
        for lp in ("en-de", "en-de", "fr-de"):
            good = ("3", "1", "2", "3", "3")[n % 5]
            rows.append(f"s {n}\tg\tb\tr\t{phenomenon}\t{lp}\t{good}\t2\t{'' if gap and n == 4 else 5}\t1\n")
            n += 1
    (tmp_path / "aces.tsv").write_text(ACES + "".join(rows), "utf-8")
    return tmp_path / "aces.tsv"


@pytest.mark.slow
def test_aces_score_is_the_weighted_sum_over_classes_of_mean_tau_over_phenomena(tmp_path: Path, database: Path) -> None:
    assert not load([_aces(tmp_path, PHENOMENA)], database).faults
    outcome = [1, -1, -1, 1, 1]  # a tie is wrong
    tau = {name: sum(outcome[(3 * at + k) % 5] for k in range(3)) / 3 for at, name in enumerate(PHENOMENA)}
    major = tau["addition"] + tau["omission"] + (tau["nonsense"] + tau["xnli-omission-neutral"]) / 2
    major += tau["hyponym-replacement"] + tau["hypernym-replacement"]
    minor = (tau["copy-source"] + tau["untranslated-vs-synonym"]) / 2 + tau["do-not-translate"]
    minor += tau["commonsense-only-ref-ambiguous"] + tau["similar-language-low"]
    expected = 5 * major + minor + 0.1 * tau["punctuation:deletion_all"]
    with Warehouse.open(database) as warehouse:
        found = metaeval.protocol(warehouse, "aces").result
    assert found.metrics == ("B-ref", "A-ref")
    assert found.overall.tolist() == pytest.approx([29.1, expected], abs=1e-12)
    assert not found.notes


@pytest.mark.slow
def test_aces_score_tells_what_is_missing(tmp_path: Path, database: Path) -> None:
    assert not load([_aces(tmp_path, ("addition", "omission", "my-own"), gap=True)], database).faults
    with Warehouse.open(database) as warehouse:
        answer = metaeval.protocol(warehouse, "aces")
        assert answer.result.metrics == ("A-ref", "B-ref")
        assert str(answer.result.overall[1]) == "nan"
        notes = "\n".join(answer.notes)
        assert "mistranslation, overtranslation, undertranslation" in notes
        assert "3 pairs of other classes, or of none, are excluded" in notes
        assert "B-ref has no overall score, because scores are missing" in notes
        with pytest.raises(QuestionError, match="counts pairs of grades"):
            metaeval.protocol(warehouse, "aces", human="grade")


@pytest.mark.slow
def test_aces_score_is_tested_by_the_signs_of_items(tmp_path: Path, database: Path) -> None:
    """Of six items B is right in two more, of one class: one of four choices of their signs gives B as much."""
    assert not load([_aces(tmp_path, ("addition", "copy-source"))], database).faults
    expected = {(0.3, "greater"): [1, 2], (0.2, "greater"): [1, 1], (0.4, "two-sided"): [1, 1]}
    with Warehouse.open(database) as warehouse:
        for (alpha, alternative), clusters in (expected | {(0.55, "two-sided"): [1, 2]}).items():
            found = metaeval.protocol(warehouse, "aces", significance=True, alpha=alpha, alternative=alternative).result
            assert found.clusters.tolist() == clusters, (alpha, alternative)
            assert found.n_significant == max(clusters) - 1
            assert [task.clusters.tolist() for task in found.tasks] == [clusters, [1, 1]]


@pytest.mark.slow
def test_aces_score_is_of_challenge_sets_alone(own_beside_a_task: Path) -> None:
    with Warehouse.open(own_beside_a_task) as warehouse:
        with pytest.raises(QuestionError, match="tiny24 is not one"):
            metaeval.protocol(warehouse, "aces", on="tiny24")
        assert metaeval.protocol(warehouse, "aces", on="mine").result.metrics == ("BLEU-ref", "Kiwi-src")


@pytest.fixture(scope="module")
def own_beside_a_task(own: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read it only."""
    folder = tmp_path_factory.mktemp("beside")
    database = sharing.written(folder / "w.duckdb", own.read_bytes())
    assert not load([tiny_layout(folder)], database).faults
    return database


NAMED = {
    "trend": lambda warehouse, testset: metaeval.trend(warehouse, testset, anchor="BLEU"),
    "deltas": lambda warehouse, testset: metaeval.deltas(
        warehouse, testset, metric="Fine" if testset == "all" else "BLEU", resamples=20
    ),
    "hard": lambda warehouse, testset: metaeval.deltas(warehouse, testset, hard=True, min_metrics=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("question", NAMED)
def test_questions_about_people_s_scores_refuse_a_challenge_set_and_leave_it_out_of_all(
    own_beside_a_task: Path, question: str
) -> None:
    with Warehouse.open(own_beside_a_task) as warehouse:
        with pytest.raises(QuestionError, match="mine is a challenge set, whose grades are not human scores"):
            NAMED[question](warehouse, "mine")
        with pytest.raises(QuestionError, match="mine is a challenge set"):
            NAMED[question](warehouse, "tiny24,mine")
        found = NAMED[question](warehouse, "all")
    assert "challenge sets, excluded: mine" in found.notes
    assert "mine" not in str(found.frame.rows())


def test_the_list_tells_challenge_sets_from_those_of_tasks(own_beside_a_task: Path) -> None:
    with Warehouse.open(own_beside_a_task) as warehouse:
        kinds = dict(metaeval.list(warehouse).frame.select("testset", "kind").iter_rows())
    assert kinds == {"mine": "challenge", "tiny24": "task"}


def test_challenge_sets_are_pooled_with_each_other_alone(own_beside_a_task: Path) -> None:
    with Warehouse.open(own_beside_a_task) as warehouse:
        with pytest.raises(QuestionError, match="challenge sets are not pooled with other test sets: mine"):
            metaeval.rank(warehouse, "mine,tiny24", measures=["accuracy"], pool="mean")
        assert metaeval.rank(warehouse, "mine", measures=["accuracy"], pool="mean").frame.height == 2


@pytest.mark.slow
def test_repeated_rows_and_objects_are_items_once(tmp_path: Path, database: Path) -> None:
    path = _aces(tmp_path, PHENOMENA[:1])
    path.write_text(path.read_text("utf-8") + "s 0\tg\tb\tr\taddition\ten-de\t3\t2\t5\t1\n", "utf-8")
    rows = [demetr_row(1), demetr_row(2), demetr_row(1)]
    report = load([path, written(tmp_path / "critical_id7_antonym.json", rows)], database)
    assert sum("1 repeated row, loaded once" in note for note in report.notes) == 2
    assert ask(
        database,
        "SELECT lp, count(*) FROM internal.segment JOIN internal.evalset USING (evalset_id) GROUP BY 1 ORDER BY 1",
    ) == [
        ("de-en", 2),
        ("en-de", 2),
        ("fr-de", 1),
    ]


HEADER = "item,phenomenon,hypothesis,grade,lp,Fathom\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "row", "told"),
    [
        (f",{HEADER}", "0,", "columns not read: the first, which has no name"),
        (f"Unnamed: 0,{HEADER}", "0,", "columns not read: Unnamed: 0"),
        (f"\ufeff{HEADER}", "", None),
    ],
)
def test_columns_that_count_rows_are_no_metrics(
    header: str, row: str, told: str | None, tmp_path: Path, database: Path
) -> None:
    (tmp_path / "set.csv").write_text(f"{header}{row}i,p,a,1,en-de,0.5\n{row}i,p,b,0,en-de,0.4\n", "utf-8")
    report = load([tmp_path / "set.csv"], database)
    assert report.faults == []
    assert [note.partition(": ")[2] for note in report.notes] == ([told] if told else [])
    names = [name for (name,) in ask(database, "SELECT name FROM internal.scorer")]
    assert sorted(names) == ["Fathom-ref", "grade"]


def test_a_column_named_twice_and_a_row_without_an_item_are_refused(tmp_path: Path, database: Path) -> None:
    table = HEADER.replace("\n", ",Fathom\n") + "i,p,a,1,en-de,0.5,0.6\n,p,b,0,en-de,0.4,0.5\n"
    (tmp_path / "set.csv").write_text(table, "utf-8")
    faults = [str(fault).partition("set.csv")[2] for fault in load([tmp_path / "set.csv"], database).faults]
    assert faults == [
        ":1: columns that appear twice: Fathom, expected each once",
        ":3: no item, expected the name of the item",
    ]

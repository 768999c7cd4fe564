"""sacreBLEU's metrics on texts of the warehouse: right scores, stored once, marked as the user's own."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.helpers import real_data, tiny_layout
from tests.sharing import written
from warehouse import QuestionError, Warehouse, load
from warehouse.own.sacrebleu import compute

sacrebleu = pytest.importorskip("sacrebleu", reason="sacreBLEU (extra `metrics`) is not installed")

REFERENCE = ["the cat sat on the mat", "a quick brown fox jumps", "hello world again and again", "one two three", "end"]
OUTPUTS = {
    "Ash": ["the cat sat on the mat", "a quick brown fox jumped", "hello world", "one two three", "end"],
    "Beech": ["a cat is on a mat", "the fox jumps", "hello world again and again", "one three two", "stop"],
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read it only: en-de, into Chinese, and language pairs with two references, no texts, and BLEU from a file."""
    folder = tmp_path_factory.mktemp("original")
    root = _layout(folder / "layout", OUTPUTS)
    for lp in ("en-zh", "en-cs"):
        _layout(folder / "layout", OUTPUTS, lp=lp, facts=False)
    (root / "references" / "en-cs.refB.txt").write_text("a\nb\nc\nd\ne\n")
    tiny_layout(folder / "layout", lp="en-ru", texts=False, facts=False)
    tiny_layout(folder / "layout", lp="en-uk", facts=False)
    published = root / "metric-scores" / "en-uk" / "sacreBLEU-BLEU-refA.sys.score"
    published.write_text("Ash\t1\nBeech\t2\nCherry\t3\n")
    report = load([root], folder / "w.duckdb")
    assert report.is_clean, report.faults
    return folder / "w.duckdb"


@pytest.fixture
def database(original: Path, tmp_path: Path) -> Path:
    return written(tmp_path / "w.duckdb", original.read_bytes())


def _layout(path: Path, outputs: dict[str, list[str]], *, lp: str = "en-de", facts: bool = True) -> Path:
    """The tiny task with these texts; the test set's folder."""
    folder = tiny_layout(path, lp=lp, facts=facts)
    for name, lines in outputs.items():
        (folder / "system-outputs" / lp / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "references" / f"{lp}.refA.txt").write_text("\n".join(REFERENCE) + "\n", encoding="utf-8")
    return folder


def _scores(database: Path, metric: str, system: str) -> list[float]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows(
            "SELECT value FROM scores WHERE metric = $metric AND system = $system ORDER BY segment",
            {"metric": metric, "system": system},
        )
    return [value for (value,) in rows]


def _submitted(database: Path, metric: str) -> dict[str, float]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows(
            "SELECT system, submitted FROM system_scores WHERE scorer = $metric AND lp = 'en-de'", {"metric": metric}
        )
    return dict(rows)


@pytest.mark.slow
def test_an_output_that_is_the_reference_gets_full_marks_worked_out_by_hand(tmp_path: Path) -> None:
    """Equal texts: BLEU and chrF 100. One of five words changed in one sentence of one: TER 1/5 = 20 there."""
    changed = [REFERENCE[0], "a quick brown fox jumped", *REFERENCE[2:]]
    database = tmp_path / "w.duckdb"
    assert load([_layout(tmp_path / "layout", {"Ash": list(REFERENCE), "Beech": changed})], database).is_clean
    compute(database, "tiny24", "en-de", ["bleu", "chrf", "ter"])
    assert _submitted(database, "sacreBLEU-BLEU-refA")["Ash"] == pytest.approx(100.0)
    assert _submitted(database, "sacreBLEU-chrF-refA")["Ash"] == pytest.approx(100.0)
    assert _submitted(database, "sacreBLEU-TER-refA")["Ash"] == 0.0
    assert _scores(database, "sacreBLEU-TER-refA", "Beech") == pytest.approx([0, -20.0, 0, 0, 0])
    n_words = sum(len(line.split()) for line in REFERENCE)
    assert _submitted(database, "sacreBLEU-TER-refA")["Beech"] == pytest.approx(-100 / n_words)


@pytest.mark.slow
def test_scores_are_sacrebleus_own(database: Path) -> None:
    found = {item.scorer: item for item in compute(database, "tiny24", "en-de")}
    assert list(found) == ["sacreBLEU-BLEU-refA", "sacreBLEU-chrF-refA", "sacreBLEU-TER-refA"]
    for system in ("Ash", "Beech"):
        lines = OUTPUTS[system]
        assert found["sacreBLEU-BLEU-refA"].system_scores[system] == sacrebleu.corpus_bleu(lines, [REFERENCE]).score
        assert _submitted(database, "sacreBLEU-chrF-refA")[system] == sacrebleu.corpus_chrf(lines, [REFERENCE]).score
        assert found["sacreBLEU-TER-refA"].system_scores[system] == sacrebleu.corpus_ter(lines, [REFERENCE]).score
        each = [
            sacrebleu.sentence_bleu(line, [reference]).score for line, reference in zip(lines, REFERENCE, strict=True)
        ]
        assert _scores(database, "sacreBLEU-BLEU-refA", system) == each
    assert "version:" in found["sacreBLEU-BLEU-refA"].signature
    assert "tok:13a" in found["sacreBLEU-BLEU-refA"].signature


@pytest.mark.slow
def test_what_is_stored_is_the_users_own_with_its_signature_and_facts_and_no_entry_of_the_task(database: Path) -> None:
    (item,) = compute(database, "tiny24", "en-de", ["ter"])
    assert item.status == "stored"
    with Warehouse.open(database) as warehouse:
        (row,) = warehouse.rows(
            "SELECT metric, family, status, is_own, levels, n_systems FROM metrics WHERE is_own AND testset = 'tiny24'"
        )
        assert row == ("sacreBLEU-TER-refA", "TER", "no entry", True, "seg,sys", 3)
        (source,) = warehouse.rows("SELECT path, reader, n_rows, n_missing FROM sources WHERE origin LIKE 'computed/%'")
        n_rows = len(item.system_scores) * (len(item.segments) + 1)
        assert source == (item.signature, f"sacrebleu/{sacrebleu.__version__}", n_rows, 0)
        assert n_rows == 3 * 6
        query = "SELECT family, is_error_measure, is_known FROM metric_facts WHERE base_metric = 'sacreBLEU-TER'"
        assert warehouse.rows(query) == [("TER", True, True)]
        assert warehouse.rows("SELECT DISTINCT is_negated FROM vector JOIN scorer USING (scorer_id) "
                              "WHERE scorer.name = 'sacreBLEU-TER-refA'") == [(True,)]  # fmt: skip


@pytest.mark.slow
def test_the_same_again_changes_nothing(database: Path) -> None:
    compute(database, "tiny24", "en-de", ["chrf"])
    before = database.read_bytes()
    (again,) = compute(database, "tiny24", "en-de", ["chrf"])
    assert again.status == "unchanged"
    assert again.system_scores["Ash"] == sacrebleu.corpus_chrf(OUTPUTS["Ash"], [REFERENCE]).score
    assert database.read_bytes() == before


@pytest.mark.slow
def test_other_options_replace_what_was_computed_before(database: Path) -> None:
    compute(database, "tiny24", "en-de", ["bleu"])
    (again,) = compute(database, "tiny24", "en-de", ["bleu"], tokenize="char")
    assert again.status == "replaced"
    expected = sacrebleu.corpus_bleu(OUTPUTS["Beech"], [REFERENCE], tokenize="char").score
    assert _submitted(database, "sacreBLEU-BLEU-refA")["Beech"] == expected
    assert len(_scores(database, "sacreBLEU-BLEU-refA", "Beech")) == 5


def test_a_dry_run_stores_nothing_and_compares_the_reference_not_with_itself(original: Path) -> None:
    before = original.read_bytes()
    (item,) = compute(original, "tiny24", "en-de", ["bleu"], dry_run=True)
    assert item.status == "not stored"
    assert item.system_scores["Ash"] > item.system_scores["Beech"]
    assert "refA" not in item.system_scores
    assert item.excluded["refA"] == "the reference itself"
    assert original.read_bytes() == before


def test_bleu_takes_the_tokenizer_of_the_target_language(original: Path) -> None:
    (item,) = compute(original, "tiny24", "en-zh", ["bleu"], dry_run=True)
    assert "tok:zh" in item.signature


def test_several_references_are_named_with_dots(original: Path) -> None:
    (item,) = compute(original, "tiny24", "en-cs", ["chrf"], references=["refA", "refB"], dry_run=True)
    assert item.scorer == "sacreBLEU-chrF-refA.refB"
    assert "nrefs:2" in item.signature


def test_unknown_names_are_refused(original: Path) -> None:
    for words in ({"metrics": ["blue"]}, {"testset": "tiny25"}, {"lp": "en-fr"}, {"references": ["refX"]}):
        asked = {"testset": "tiny24", "lp": "en-de", "metrics": ["bleu"], **words}
        with pytest.raises(QuestionError, match="unknown"):
            compute(original, **asked)  # type: ignore[arg-type]
    with pytest.raises(QuestionError, match="tokenizer"):
        compute(original, "tiny24", "en-de", ["bleu"], tokenize="nonsense")


def test_an_evaluation_set_without_texts_is_refused(original: Path) -> None:
    with pytest.raises(QuestionError, match="no texts of system outputs"):
        compute(original, "tiny24", "en-ru", ["bleu"])


def test_a_metric_of_that_name_from_a_file_is_left_alone(original: Path) -> None:
    with pytest.raises(QuestionError, match="from a file already"):
        compute(original, "tiny24", "en-uk", ["bleu"])


def test_without_sacrebleu_one_line_says_how_to_get_it(original: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(QuestionError, match=r"scorehouse\[metrics\]") as caught:
        compute(original, "tiny24", "en-de", ["bleu"])
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_later_load_keeps_what_was_computed(database: Path, tmp_path: Path) -> None:
    compute(database, "tiny24", "en-de", ["bleu"])
    more = _layout(tmp_path / "layout", OUTPUTS) / "metric-scores" / "en-de" / "More-src.sys.score"
    more.write_text("Ash\t1\nBeech\t2\nCherry\t3\nrefA\t4\n")
    assert load([tmp_path / "layout"], database).is_clean
    assert len(_submitted(database, "sacreBLEU-BLEU-refA")) == 3
    assert len(_submitted(database, "More-src")) == 4


@pytest.mark.parametrize("n_systems", [3, pytest.param(None, marks=pytest.mark.long("all systems: 7 seconds"))])
def test_bleu_of_wmt23_is_what_the_organisers_submitted(
    n_systems: int | None, wmt23_database: Path, tmp_path: Path
) -> None:
    """Three systems alone, loaded from their real texts; all of them with --all."""
    with Warehouse.open(wmt23_database) as warehouse:
        rows = warehouse.rows(
            "SELECT system, submitted FROM system_scores WHERE lp = 'en-de' AND scorer = 'BLEU-refA' ORDER BY system"
        )
    expected = dict(rows[:n_systems])
    assert len(expected) == n_systems or len(expected) > 10
    texts, folder = real_data("mt-metrics-eval-v2", "wmt23"), tmp_path / "wmt23"
    outputs = [f"system-outputs/en-de/{system}.txt" for system in expected]
    for name in ("documents/en-de.docs", "sources/en-de.txt", "references/en-de.refA.txt", *outputs):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(texts / name, folder / name)
    scores = "metric-scores/en-de/BLEU-refA.sys.score"
    lines = (texts / scores).read_text().splitlines(keepends=True)
    (folder / scores).parent.mkdir(parents=True)
    (folder / scores).write_text("".join(line for line in lines if line.split("\t")[0] in expected))
    assert load([folder], tmp_path / "w.duckdb").is_clean
    (item,) = compute(tmp_path / "w.duckdb", "wmt23", "en-de", ["bleu"], dry_run=True)
    assert item.scorer == "sacreBLEU-BLEU-refA"
    assert item.system_scores == pytest.approx(expected, abs=1e-6)

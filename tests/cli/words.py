"""Words with which each command would go on, on the simulated shared task."""

SLICE = ("sim24", "cs-uk")
WORDS: dict[str, tuple[str, ...]] = {
    "add": ("own.seg.score", "--metric", "Mine", "--reference-free"),
    "annotators": SLICE,
    "compute": ("bleu", *SLICE),
    "deltas": ("simBLEU", *SLICE),
    "diff": ("other.duckdb",),
    "export": ("folder",),
    "list": ("testsets",),
    "load": ("task",),
    "noise": (*SLICE, "simBLEU", "-m", "pearson"),
    "paper": ("deutsch-2023", "figure-2"),
    "plan": (*SLICE, "simBLEU", "simchrF"),
    "protocol": ("wmt24", "--on", "sim24", "--lp", "cs-uk", "--significance"),
    "protocols": ("sim24", "--matrix"),
    "rank": (*SLICE, "-m", "pearson"),
    "remove": ("Mine",),
    "report": ("sim24", "--lp", "cs-uk"),
    "scatter": (*SLICE, "simBLEU"),
    "show": (*SLICE, "1"),
    "sql": ("SELECT 1 AS one",),
    "thresholds": (*SLICE, "--curve"),
    "unload": ("sim24", "--dry-run"),
    "trend": (*SLICE, "-m", "pearson"),
    **dict.fromkeys(("demo", "download", "hard-pairs", "audit", "migrate"), ()),
    **dict.fromkeys(("compare", "correlations", "counts", "means", "segments", "systems", "ties"), SLICE),
}

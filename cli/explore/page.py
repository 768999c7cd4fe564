"""The page of `scorehouse explore`."""

import marimo

app = marimo.App(width="full", app_title="scorehouse", html_head_file="head.html")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    from cli.explore import forms, showing
    from cli.explore.asking import Asking, own_file
    from cli.explore.names import Names
    from warehouse import WarehouseError

    return Asking, Names, Path, WarehouseError, forms, mo, own_file, showing


@app.cell
def _(Asking, Names, Path, mo):
    args, address = mo.cli_args(), mo.query_params()
    asking = Asking(Path(str(args.get("db"))), is_waiting=args.get("waiting") is not None)
    names = Names(asking.database)
    start = {"testset": args.get("testset"), "lp": args.get("lp"), **address.to_dict()}
    VIEWS = ["Ranking", "Over the years", "Phenomena", "Any question", "SQL"]
    return VIEWS, address, asking, names, start


@app.cell
def _(VIEWS, asking, mo, names, start):
    _first = start.get("view") if start.get("view") in VIEWS else VIEWS[0]
    view = mo.ui.tabs(dict.fromkeys(VIEWS, ""), value=_first)
    testset = mo.ui.dropdown(
        names.testsets, value=names.testset(start.get("testset")), label="test set", searchable=True
    )
    stop = mo.ui.button(label="Stop", on_click=lambda _: asking.stop(), tooltip="Stop the computation")
    dropped = mo.ui.file(label="Upload scores to compare (not saved)", kind="button")
    return dropped, stop, testset, view


@app.cell
def _(mo, names, start, testset):
    _lps = names.lps(testset.value)
    lp = mo.ui.dropdown(_lps, value=start.get("lp") if start.get("lp") in _lps else _lps[0], label="language pair")
    return (lp,)


@app.cell
def _(lp, mo, names, start, testset):
    _humans = names.of("human", testset.value, lp.value)
    human = mo.ui.dropdown(
        _humans, value=start.get("human") if start.get("human") in _humans else None, label="human score (official)"
    )
    _measures = [one for one in str(start.get("measures", "")).split(";") if one in names.measures]
    measures = mo.ui.multiselect(names.measures, value=_measures or names.default_measures, label="measures")
    return human, measures


@app.cell
def _(dropped, human, lp, measures, mo, stop, testset, view):
    _pickers = {
        "Ranking": [testset, lp, human, measures, dropped, stop],
        "Over the years": [stop],
        "Phenomena": [testset, lp, human, measures, stop],
        "Any question": [testset, lp, stop],
        "SQL": [],
    }
    mo.vstack(
        [
            mo.hstack([mo.md("# scorehouse"), view.style({"max-width": "100%", "overflow-x": "auto"})], wrap=True),
            mo.hstack(_pickers[view.value], justify="start", align="end", wrap=True),
        ]
    )
    return


@app.cell
def _(address, human, linked, lp, measures, testset, view):
    _said = {"view": view.value, "testset": testset.value, "lp": lp.value, "human": human.value, **linked()}
    for _name, _value in {**_said, "measures": ";".join(measures.value)}.items():
        if _value:
            address.set(_name, _value)
        else:
            address.remove(_name)
    return


@app.cell
def _(mo):
    linked, put_linked = mo.state({})  # what views add to the address, which one cell alone may set
    return linked, put_linked


@app.cell
def _(human, lp, measures, testset):
    place = {"testset": testset.value, "lp": lp.value, **({"human": human.value} if human.value else {})}
    chosen = {**place, "measures": measures.value}
    return chosen, place


@app.cell
def _(mo):
    ranking, put_ranking = mo.state(None)
    drawn, put_drawn = mo.state(None)
    compared, put_compared = mo.state(None)
    worst, put_worst = mo.state(None)
    scattered, put_scattered = mo.state(None)
    read, put_read = mo.state(None)
    other, put_other = mo.state(None)
    return (
        compared,
        drawn,
        other,
        put_compared,
        put_drawn,
        put_other,
        put_ranking,
        put_read,
        put_scattered,
        put_worst,
        ranking,
        read,
        scattered,
        worst,
    )


@app.cell
def _(asking, chosen, dropped, mo, own_file, put_drawn, put_ranking, view):
    mo.stop(view.value != "Ranking")
    put_ranking(None)
    put_drawn(None)
    _own = {"with_file": own_file(dropped.name(), dropped.contents())} if dropped.value else {}
    _asked = {**chosen, **_own}
    asking.in_background((put_ranking, "rank", _asked), (put_drawn, "rank", {**_asked, "charted": True}))
    return


@app.cell
def _(mo, ranking, showing, start, view):
    mo.stop(view.value != "Ranking")
    metrics = showing.ranking_table(ranking(), str(start.get("metrics", "")).split(";"))
    _below = [] if metrics is None else [metrics, mo.md("Select one metric to look into it, two to compare them.")]
    mo.vstack([showing.answer_parts(ranking(), showing.summary), *_below])
    return (metrics,)


@app.cell
def _(metrics, put_linked):
    picked = list(dict.fromkeys(metrics.value["metric"])) if metrics is not None and len(metrics.value) else []
    if metrics is not None:
        put_linked(lambda now: {**now, "metrics": ";".join(picked)})
    return (picked,)


@app.cell
def _(asking, measures, mo, picked, place, put_compared, view):
    mo.stop(view.value != "Ranking" or len(picked) != 2)
    put_compared(None)
    _asked = {**place, "measure": (measures.value or [None])[0], "metrics": picked}
    asking.in_background((put_compared, "compare", _asked))
    return


@app.cell
def _(compared, mo, picked, showing, view):
    mo.stop(view.value != "Ranking" or len(picked) != 2)
    mo.vstack([showing.words(f"{picked[0]} against {picked[1]}"), showing.answer_parts(compared())])
    return


@app.cell
def _(asking, mo, picked, place, put_scattered, put_worst, view):
    mo.stop(view.value != "Ranking" or len(picked) != 1)
    put_scattered(None)
    put_worst(None)
    asking.in_background((put_scattered, "scatter", {**place, "metric": picked[0], "charted": True}))
    asking.in_background((put_worst, "segments", {**place, "metric": picked, "n": 50}))
    return


@app.cell
def _(mo, picked, scattered, showing, view):
    mo.stop(view.value != "Ranking" or len(picked) != 1)
    mo.vstack([showing.words(f"{picked[0]} against human scores"), showing.answer_parts(scattered())])
    return


@app.cell
def _(mo, names, picked, place, showing, view):
    mo.stop(view.value != "Ranking" or len(picked) != 1)
    points = showing.points(names.points(picked[0], **place))
    mo.vstack([mo.md("Each point is an output. Select points to read them."), points])
    return (points,)


@app.cell
def _(mo, picked, showing, view, worst):
    mo.stop(view.value != "Ranking" or len(picked) != 1)
    outputs = showing.outputs_table(worst())
    mo.vstack(
        [
            mo.md("Outputs on which this metric and the human score disagree most. Select one to read its segment."),
            outputs,
        ]
    )
    return (outputs,)


@app.cell
def _(asking, lp, mo, outputs, picked, points, put_read, showing, testset, view):
    _segments = showing.segments_of(outputs, points)
    mo.stop(view.value != "Ranking" or not _segments)
    put_read(None)
    _place = {"testset": testset.value, "lp": lp.value}
    asking.in_background((put_read, "show", {**_place, "segment": _segments[0], "metrics": picked}))
    return


@app.cell
def _(mo, outputs, points, read, showing, view):
    mo.stop(view.value != "Ranking" or not showing.segments_of(outputs, points))
    showing.answer_parts(read(), showing.segment)
    return


@app.cell
def _(WarehouseError, drawn, mo, ranking, showing, view):
    mo.stop(view.value != "Ranking" or isinstance(ranking(), WarehouseError))
    showing.answer_parts(drawn() or ranking(), showing.chart, showing.notes)
    return


@app.cell
def _(mo, start, view):
    from inspect import cleandoc

    from metaeval.questions import QUESTIONS, question_named

    mo.stop(view.value != "Any question")
    _asked = [one for one in QUESTIONS if one != "show"]
    _first = start.get("question") if start.get("question") in _asked else "compare"
    question = mo.ui.dropdown(_asked, value=_first, label="question")
    return cleandoc, question, question_named


@app.cell
def _(cleandoc, forms, lp, mo, names, put_linked, question, question_named, testset):
    put_linked(lambda now: {**now, "question": question.value})
    asked_kind = question_named(question.value)
    _place = {"testset": testset.value, "lp": lp.value, "on": testset.value}
    fields = forms.form(asked_kind, names.by_kind(testset.value, lp.value), _place)
    ask = mo.ui.run_button(label="Ask")
    mo.vstack(
        [
            mo.hstack([question, ask], justify="start", align="end"),
            mo.md(cleandoc(asked_kind.__doc__ or "").partition("Example:")[0]),
            *forms.laid_out(asked_kind, fields.elements),
        ]
    )
    return ask, asked_kind, fields


@app.cell
def _(WarehouseError, ask, asked_kind, asking, fields, forms, mo, put_other, question):
    put_other(None)
    mo.stop(not ask.value)
    try:
        _given = forms.values_given(asked_kind, fields.value)
        asking.in_background((put_other, question.value, {**_given, "charted": asked_kind.has_chart()}))
    except WarehouseError as error:
        put_other(error)
    return


@app.cell
def _(lp, mo, names, start, view):
    mo.stop(view.value != "Over the years")
    _first = start.get("measure") if start.get("measure") in names.measures else "pa"
    followed = mo.ui.dropdown(names.measures, value=_first, label="measure", searchable=True)
    _lps = names.of("lp", None)
    _lp = start.get("years_lp") if start.get("years_lp") in _lps else lp.value
    followed_lp = mo.ui.dropdown(_lps, value=_lp, label="language pair", searchable=True)
    mo.hstack([followed_lp, followed], justify="start", align="end", wrap=True)
    return followed, followed_lp


@app.cell
def _(asking, followed, followed_lp, put_linked, put_other):
    put_other(None)
    put_linked(lambda now: {**now, "years_lp": followed_lp.value, "measure": followed.value})
    _asked = {"testset": "all", "lp": followed_lp.value, "measure": followed.value, "charted": True}
    asking.in_background((put_other, "trend", _asked))
    return


@app.cell
def _(asking, chosen, mo, put_other, view):
    mo.stop(view.value != "Phenomena")
    put_other(None)
    asking.in_background((put_other, "rank", {**chosen, "by": "phenomenon", "charted": True}))
    return


@app.cell
def _(mo, other, showing, view):
    mo.stop(view.value in ("Ranking", "SQL"))
    showing.answer_parts(other())
    return


@app.cell
def _(mo, names, view):
    mo.stop(view.value != "SQL")
    recipe = mo.ui.dropdown(names.recipes, label="question of the cookbook", searchable=True)
    return (recipe,)


@app.cell
def _(mo, names, recipe, showing, view):
    mo.stop(view.value != "SQL")
    query = mo.ui.code_editor(recipe.value or names.first_query, language="sql", min_height=160, label="SQL")
    run = mo.ui.run_button(label="Run")
    mo.vstack([recipe, query, run, mo.accordion({"Views": showing.table(names.views())})])
    return query, run


@app.cell
def _(asking, mo, query, run, showing, view):
    mo.stop(view.value != "SQL" or not run.value)
    showing.query_rows(asking.sql(query.value))
    return


if __name__ == "__main__":
    app.run()

"""Commands made of questions: their fields are the options, their answers are shown."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, replace
from functools import cache, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.completion import completion_of
from cli.exit_codes import ExitCode, UsageError, check_extra
from cli.hints import dashed
from cli.options.folding import folded
from cli.options.output import ChartFlags, PageOutput, QuestionOutput, VerdictFlags
from cli.render.output import progress
from cli.views import view_of
from metaeval.questions import question_named
from metaeval.questions.question import Question, question_with
from warehouse.errors import QuestionError
from warehouse.fields import Field, fields_of
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.results.run import Run


@cache
def command_of(name: str) -> Callable[..., None]:
    """The command of a question."""
    question = _question(name)
    show = view_of(name)
    known = fields_of(question)

    def command(
        output: QuestionOutput, charted: ChartFlags | None = None, verdicts: VerdictFlags | None = None, **words: Any
    ) -> None:
        from metaeval.python_api import answered
        from metaeval.questions.question import evalsets_named
        from metaeval.results.run import Run
        from queries.opening import opened_groups, opening

        if output.is_page:
            check_extra("the report needs", "report", "altair", "jinja2", "vl_convert")
        in_order = partial(_in_order, name, known, words, output)
        with in_order():
            given = _values_of_words(name, known, words)
        if "after" in given and (output.db or output.folder) is not None:
            raise UsageError("name the second warehouse as an argument or with --db, not both")
        if charted is not None and charted.chart is not None:
            given["charted"] = True
        if verdicts is not None and verdicts.junit is not None and not given.get(_GATE):
            raise UsageError("--junit does nothing without --gate")
        if output.verbose and _VERBOSE in known:
            given[_VERBOSE] = True
        named = partial(evalsets_named, question, given)
        with (
            in_order(),
            progress(output.quiet) as advance,
            opening(output.database, named, output.folder is not None) as opened,
        ):
            run = Run(opened, output.stored_in, advance, output.is_for_reading)
            if output.folder is not None and not question_with(question, given).reads_others:
                run = replace(run, opened_groups=partial(opened_groups, opened))
            with _on_workers(question_with(question, given), run, output) as run:
                answer = answered(question, given, run)
        if charted is not None:
            charted.draw(output, answer.chart)
        if verdicts is not None:
            verdicts.write(output, answer)
        show(answer, output)
        if answer.is_no:
            raise typer.Exit(ExitCode.NO)

    parameters = [_parameter(one, flags, one.name in question.hidden) for one in known.values() for flags in _ways(one)]
    parameters = [one for one in parameters if one.name != _VERBOSE]  # of all commands: `Output.verbose`
    parameters.append(
        inspect.Parameter(
            "output", inspect.Parameter.KEYWORD_ONLY, annotation=PageOutput if name == _REPORT else QuestionOutput
        )
    )
    if question.has_chart():
        parameters.append(inspect.Parameter("charted", inspect.Parameter.KEYWORD_ONLY, annotation=ChartFlags))
    if _GATE in known:
        parameters.append(inspect.Parameter("verdicts", inspect.Parameter.KEYWORD_ONLY, annotation=VerdictFlags))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__name__, command.__doc__ = name, question.__doc__
    return folded(command, looks_up=False)


@contextmanager
def _on_workers(question: Question[Any], run: "Run", output: QuestionOutput) -> "Iterator[Run]":
    """The run with the workers that are named, if any."""
    if output.workers is None:
        yield run
        return
    from metaeval.questions.workers import workers_at

    known, given = fields_of(type(question)), question.given()
    if not question.by_evalset or any(one in question.as_a_whole for one in given):
        raise UsageError(f"{question.in_few_words()} is not computed by evaluation set, so --workers does nothing")
    if own := [name for name in given if known[name].element is Path]:
        raise UsageError(f"{option(own[0])} names a file of this machine, which --workers may not have")
    with workers_at(output.workers, output.database, is_whole=question.reads_others) as workers:
        yield replace(run, workers=workers)


def _question(name: str) -> type[Question[Any]]:
    if name == _REPORT:  # a question of the command line's own
        from cli.report.question import Report

        return Report
    return question_named(name)


_REPORT = "report"
_VERBOSE = "verbose"
_GATE = "gate"
_BY_FLAG = "_by_flag"  # behind the name of an argument that can be given with a flag as well


def _ways(field: Field) -> list[bool]:
    """Whether a field is an option, for each parameter that it becomes."""
    if not field.is_argument:
        return [True]
    return [False, True] if field.option.flags else [False]


def _parameter(field: Field, is_option: bool, is_hidden: bool) -> inspect.Parameter:
    said, kind = field.option, field.element
    more: dict[str, Any] = {"help": field.help, "hidden": is_hidden}
    if is_option:
        more["rich_help_panel"] = "Options" if field.is_argument else said.panel
    if said.default is not None:
        more["show_default"] = said.default
    if (complete := completion_of(said.names, field.choices)) is not None:
        more["autocompletion"] = complete
    default = () if field.default is MISSING else field.default
    if not is_option:
        annotation: Any = list[str] | None if field.is_list else str | None
        shown = more.pop("show_default", None) or (default if isinstance(default, str) else False)
        argument = typer.Argument(metavar=_metavar(field), show_default=shown, **more)
        return _keyword(field.name, None, Annotated[annotation, argument])
    flags = flags_of(field)
    name = field.name + (_BY_FLAG if field.is_argument else "")
    if kind is bool:
        kept = bool | None if field.may_be_none else bool
        return _keyword(
            name, None if field.may_be_none else field.default, Annotated[kept, typer.Option(*flags, **more)]
        )
    more["metavar"] = _metavar(field)
    if kind not in (str, Path):
        more["parser"] = field.parsed
    if field.is_list:
        if field.default and "show_default" not in more:
            more["show_default"] = ", ".join(map(str, field.default))
        return _keyword(name, None, Annotated[list[str] | None, typer.Option(*flags, **more)])
    shown_default = None if field.is_argument or field.default is MISSING else field.default
    return _keyword(name, shown_default, Annotated[str | None, typer.Option(*flags, **more)])


def flags_of(field: Field) -> tuple[str, ...]:
    """The flags of a field; one that may be negated has its opposite after a slash."""
    flags = [dashed(word) for word in field.option.flags or (field.name.replace("_", "-"),)]
    return ("/".join(flags),) if field.element is bool and len(flags) == 2 else tuple(flags)


def _keyword(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _metavar(field: Field) -> str:
    if field.option.metavar is not None:
        found = field.option.metavar
    elif field.choices:
        found = "|".join(field.choices)
    elif field.is_argument:
        found = field.name.upper()
    else:
        found = {int: "N", float: "NUMBER", Path: "FILE"}.get(field.element, "TEXT")
    return f"{found}..." if field.is_list and not field.choices and not field.is_argument else found


def _values_of_words(command: str, known: Mapping[str, Field], words: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the words of a command give, by field: arguments by position; a language pair may be omitted.

    Raises UsageError: more words than there are arguments, or one that is missing.
    """
    given = {
        name: value
        for name, value in words.items()
        if name in known and not known[name].is_argument and _is_said(value)
    }
    arguments = [one for one in known.values() if one.is_argument]
    said = [word for one in arguments for word in _listed(words.get(one.name))]
    places = list(arguments)
    if (
        said
        and places
        and places[0].name == "testset"
        and places[0].default is not MISSING
        and _is_pair(said[0].split(",")[0])
    ):
        places.pop(0)  # all test sets
    for place, one in enumerate(places):
        if one.name == "lp" and len(said) > place and not _may_be_lp(said[place]) and len(places) > place + 1:
            places.remove(one)
            break
    for one in places:
        if one.is_list:
            value: Any = tuple(said)
            said = []
        else:
            value = said.pop(0) if said else None
        if (flagged := words.get(one.name + _BY_FLAG)) is not None:
            value = (*(value or ()), *flagged) if one.is_list else flagged
        if value is not None and value != ():
            given[one.name] = value if one.is_list or one.element is str else one.parsed(value)
        elif one.default is MISSING:
            example = _completed(command, arguments, given)
            raise UsageError(
                f"{command} needs {one.name.upper()}, such as `{example}` (see `scorehouse {command} --help`)"
            )
    if said:
        raise UsageError(f"unexpected {' '.join(map(repr, said))} (see `scorehouse {command} --help`)")
    return given


_FOR_EXAMPLE = {"testset": "wmt23 en-de", "metric": "BLEU", "segment": "1", "before": "before.duckdb"}


def _completed(command: str, arguments: Sequence[Field], given: Mapping[str, Any]) -> str:
    """The command with the arguments that it has, and an example of each that it needs."""
    words = []
    for one in arguments:
        if one.name in given and "lp" in given:  # else a lone word may be another argument than the test set
            words += [quote(str(word)) for word in _listed(given[one.name])]
        elif one.default is MISSING:
            words.append(_FOR_EXAMPLE[one.name])
    return " ".join(["scorehouse", command, *words])


@contextmanager
def _in_order(
    command: str, known: Mapping[str, Field], words: Mapping[str, Any], output: QuestionOutput
) -> "Iterator[None]":
    """If the block fails, an error that gives the right order of the words, if it is another."""
    try:
        yield
    except (UsageError, QuestionError):
        _check_order(command, known, words, output)
        raise


def _check_order(command: str, known: Mapping[str, Field], words: Mapping[str, Any], output: QuestionOutput) -> None:
    """Refuse a test set of this warehouse, or of WMT, that comes after another word.

    Raises QuestionError: the order is another, with the command in the right one.
    """
    arguments = [one.name for one in known.values() if one.is_argument]
    said = [word for name in arguments for word in _listed(words.get(name))]
    if arguments[:1] != ["testset"] or len(said) < 2:
        return
    from queries.evalsets import stored_name, stored_places, unknown_testset
    from queries.opening import opening
    from warehouse.facts.testsets import known_testsets

    names = {*known_testsets()}
    if names.issuperset(said[0].split(",")):
        return
    if output.folder is None and output.database.is_file():
        with opening(output.database) as opened, opened() as warehouse:
            names |= stored_places(warehouse)["testset"]
    there = [names.issuperset(stored_name(one, names).split(",")) for one in said]
    if there[0] or said[0] == "all" or not any(there):
        return
    testset = stored_name(said.pop(there.index(True)), names)
    if _is_pair(said[0].split(",")[0]):
        raise unknown_testset(said[0].split(",")[0], [testset])
    if pairs := [one for one in said if _is_pair(one.split(",")[0])]:
        said.insert(0, said.pop(said.index(pairs[0])))
    line = " ".join(["scorehouse", command, *map(quote, (testset, *said))])
    raise QuestionError(f"the test set comes first: `{line}`")


def _may_be_lp(word: str) -> bool:
    from warehouse.facts.languages import is_language_name

    return word.casefold() == "all" or all(not one or _is_pair(one) or is_language_name(one) for one in word.split(","))


def _is_pair(word: str) -> bool:
    """Whether a word may be a language pair; imports the list of languages late, so that a help does not need it."""
    from warehouse.facts.languages import is_typed_pair

    return is_typed_pair(word)


def _listed(value: Any) -> list[str]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _is_said(value: Any) -> bool:
    return value is not None and value != []

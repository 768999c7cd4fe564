"""Libraries that commands need and that come with an extra of the project."""

from importlib.util import find_spec

from cli.exit_codes import UsageError


def check_extra(what: str, extra: str, *modules: str) -> None:
    """Raises UsageError: a module of the extra is not installed. what: who needs it, with its verb."""
    if any(find_spec(module) is None for module in modules):
        raise UsageError(f'{what} the {extra} extra: python3 -m pip install "scorehouse[{extra}]"')

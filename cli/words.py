"""The words of the command line before they are parsed."""

from cli.exit_codes import UsageError


def joined_parameters(arguments: list[str]) -> list[str]:
    """Arguments in which `-p NAME VALUE` has become `-p NAME=VALUE`: an option can't be both repeated and in two words.

    >>> joined_parameters(["sql", "SELECT $a", "-p", "a", "-1", "-p", "b=2"])
    ['sql', 'SELECT $a', '-p', 'a=-1', '-p', 'b=2']
    """
    joined: list[str] = []
    words = iter(arguments)
    for word in words:
        joined.append(word)
        if word in ("-p", "--parameter"):
            name = next(words, None)
            if name is not None and name.isidentifier():
                value = next(words, None)
                if value is None:
                    raise UsageError(f"-p {name}: expected a value behind the name")
                name = f"{name}={value}"
            if name is not None and not name.partition("=")[0].isidentifier():
                raise UsageError(f"-p {name or repr(name)}: expected NAME VALUE")
            joined += [] if name is None else [name]
    return joined

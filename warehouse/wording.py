"""Words of messages."""


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun. plural: where it is not the noun with an s.

    >>> counted(1, "file"), counted(0, "file"), counted(2, "pair of systems", "pairs of systems")
    ('1 file', '0 files', '2 pairs of systems')
    """
    return f"{n} {noun if n == 1 else plural or noun + 's'}"

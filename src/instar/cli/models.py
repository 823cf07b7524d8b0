"""`instar models`: what can be fetched, from where, under which licence."""

from __future__ import annotations

import argparse
from typing import Any

from instar import zoo
from instar.campaigns.catalogue import catalogues, import_home
from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.report.text import table


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=["list", "fetch", "show"],
        help="list them all; fetch one, check it and keep it; show licence, origin and hashes of one",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one to fetch or show")


def perform(args: argparse.Namespace) -> Outcome:
    if args.action == "list":
        if args.name is not None:
            raise BadInput(f"{args.name!r} is one argument too many; see instar models --help")
        return _list()
    if args.name is None:
        raise BadInput(f"instar models {args.action} needs a NAME; instar models lists them")
    included = _cards()
    if args.name in included:
        return _show_card(args.name, included[args.name])
    if args.action == "show":
        return _show(args.name)
    files = [str(path) for path in zoo.fetch(args.name, demanded=True)]
    licence = zoo.entry(args.name).licence
    text = "\n".join([*files, f"licence: {licence}"])
    return Outcome(text, {"name": args.name, "files": files, "licence": licence})


def _list() -> Outcome:
    models = [_document(entry) for entry in zoo.MANIFEST]
    rows = [["name", "kind", "MB", "here", "what it is", "licence"]]
    for model in models:
        here = "wrong" if model["wrong"] else "yes" if model["here"] else "no"
        size = f"{model['megabytes']:.1f}"
        rows.append([model["name"], model["kind"], size, here, model["what"], model["licence"]])
    text = f"{table(rows, right=[2])}\n\nkept in {zoo.cache_folder()}"
    included = list(_cards())
    text += f"\ncoming with instar, to show: {', '.join(included)}"
    return Outcome(text, {"folder": str(zoo.cache_folder()), "models": models, "included": included})


def _cards() -> dict[str, dict[str, Any]]:
    """Of the networks that come along, by their names."""
    homes = [one.cards for one in catalogues().values() if one.cards]
    return {name: card for home in homes for name, card in import_home(home)().items()}


def _show(name: str) -> Outcome:
    entry = zoo.entry(name)
    document = _document(entry) | {
        "origin": entry.origin,
        "package": str(entry.package),
        "files": [
            {"file": str(zoo.cache_folder() / m.file), "from": m.path, "bytes": m.bytes, "sha256": m.sha256}
            for m in entry.members
        ],
    }
    return Outcome(table(zoo.show(name)), document)


def _show_card(name: str, found: dict[str, Any]) -> Outcome:
    """The card of a network that comes with instar, which need not be fetched."""
    rows = [("name", name), ("here", "yes, it comes with instar")]
    rows += [(key, _plain(value)) for key, value in found.items() if key != "errors" and value is not None]
    for output, error in found.get("errors", {}).items():
        low, high = error["interval"]
        rows.append(
            (
                f"{output} error",
                f"{error['mae']:.2f} {error['unit']} ({low:.2f} to {high:.2f}) on "
                f"{error['pictures']} pictures held out, of a constant {error['constant_mae']:.2f}; "
                f"RMSE {error['rmse']:.2f}, of a constant {error['constant_rmse']:.2f}",
            )
        )
        rows += [
            (f"{other}, published", f"RMSE {rmse:.2f} on the same pictures")
            for other, rmse in error.get("published_rmse", {}).items()
        ]
    return Outcome(table(rows), {"name": name, **found})


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _document(entry: zoo.Entry) -> dict[str, Any]:
    wrong = zoo.what_is_wrong(entry.name)
    return {
        "name": entry.name,
        "kind": entry.kind,
        "what": entry.what,
        "licence": entry.licence,
        "megabytes": entry.megabytes,
        "here": wrong is None and zoo.is_present(entry.name),
        "wrong": wrong,
    }

"""What a user may write for a system besides a built-in name and `module:attr`: files, models, servers.

mine.onnx, mine.pt             a network in a file; what the file does not tell is asked for
yolo11n.pt                     a model of ultralytics, by the user's own installation of it
hf:FOLDER or hf:NAME           a pipeline of transformers
torchvision:NAME               a model of torchvision
http://..., https://...        a server that answers with JSON
kserve://HOST/MODEL            a server of the Open Inference Protocol, version 2
openai:MODEL                   a vision-language model that is asked for JSON
cmd:./predict.sh               a command that prints an answer for each picture
answers.json, answers.jsonl    answers that were made elsewhere
elsewhere                      what `instar questions` writes the questions for
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.adapters.torch_session import is_ultralytics
from instar.campaigns.catalogue import TaskCatalogue, catalogues, import_home
from instar.campaigns.plan import Use
from instar.core.errors import BadInput, UnknownName
from instar.progress import say

ANSWER_FILES = (".json", ".jsonl")
DATA_ONLY = (".onnx", ".xml")
HF_TASKS = {"ForObjectDetection": "detection", "ForImageClassification": "classification"}


@dataclass(frozen=True, slots=True)
class Adapter:
    """`module:attr` of what makes a system of a name, and the option that the name, or its rest, is for."""

    home: str
    option: str
    whole: bool = False


SCHEMES = {
    "hf": Adapter("instar.adapters.hugging_face:load_pipeline", "model"),
    "torchvision": Adapter("instar.adapters.torchvision:load_model", "model"),
    "cmd": Adapter("instar.adapters.command:CommandSystem", "command"),
    "http": Adapter("instar.adapters.http_json:HttpSystem", "url", whole=True),
    "https": Adapter("instar.adapters.http_json:HttpSystem", "url", whole=True),
    "kserve": Adapter("instar.adapters.kserve:KserveSystem", "url", whole=True),
    "openai": Adapter("instar.adapters.openai:OpenAiSystem", "model"),
}
REMOTE = ("cmd", "http", "https", "kserve", "openai")
ULTRALYTICS = Adapter("instar.adapters.ultralytics:load_yolo", "model", whole=True)
ELSEWHERE = "instar.adapters.elsewhere:Elsewhere"
ANSWERS = Adapter("instar.adapters.answer_file:AnswerFile", "path", whole=True)


def find_adapter(use: Use) -> tuple[Any, Use] | None:
    """What makes the system of a name, and the use with the name as an option; None for other names."""
    if use.name == "elsewhere":
        return import_home(ELSEWHERE), use
    scheme, colon, rest = use.name.partition(":")
    adapter = SCHEMES.get(scheme) if colon else None
    path = Path(use.name)
    if adapter is None and not colon and path.suffix in ANSWER_FILES:
        adapter = ANSWERS
    if adapter is None and path.suffix == ".pt" and is_ultralytics(path):
        adapter = ULTRALYTICS
    if adapter is None and rest.startswith("//"):
        raise UnknownName("kind of address", scheme, [name for name in SCHEMES if SCHEMES[name].whole])
    if adapter is None:
        return None
    value = use.name if adapter.whole else rest
    if not value.strip():
        raise BadInput(f"system {use.name!r} names nothing; write it as {scheme}:NAME")
    return import_home(adapter.home), Use(use.name, {adapter.option: value, **use.options}, use.called)


def is_remote(use: Use) -> bool:
    """Whether it is asked by our own code alone, in whatever process its answers come from."""
    return use.name.partition(":")[0] in REMOTE


def is_asked_from_here(use: Use) -> bool:
    """Whether it is a service, or answered elsewhere: no machine of ours would be quicker with it."""
    if use.name == "elsewhere" or Path(use.name).suffix in ANSWER_FILES:
        return True
    homes = [one.systems.get(use.name, "") for one in catalogues().values()]
    return (is_remote(use) and not use.name.startswith("cmd:")) or any(".services." in home for home in homes)


def settle_name(use: Use) -> Use:
    """A file of a network as the built-in system that runs it, with all that the file tells; others as is.

    What was found out is told on standard error, and stands in the plan of the run. A file that may have
    code in it is looked into only by its worker process.
    """
    path = Path(use.name)
    if ":" in use.name:
        return use
    takers = [one for one in catalogues().values() if path.suffix in one.files]
    if not takers and path.suffix not in ANSWER_FILES:
        if len(path.parts) > 1 or (path.suffix and path.is_file()):
            kinds = {kind for one in catalogues().values() for kind in one.files}
            listed = ", ".join(sorted(kinds | set(ANSWER_FILES)))
            raise BadInput(f"{use.name!r} is no file of a system; known are {listed}, and module:attr")
        return use
    if not path.is_file():
        raise BadInput(f"there is no file {use.name!r}; give the path of a network or of answers")
    whole = str(path.absolute())
    if not takers or (path.suffix == ".pt" and is_ultralytics(path)):
        return Use(whole, use.options, use.called or path.stem)
    options = {"model": whole, "called": path.stem, **use.options}
    taker = takers[-1]
    if path.suffix in DATA_ONLY:
        taker, told = _describe(takers, whole, use.options)
        listed = ", ".join(f"{key}={_short(value)}" for key, value in told.items())
        say(f"{use.name}: {taker.name}, {listed}")
        options = {**told, **options}
    return Use(taker.files[path.suffix], options, use.called or path.stem)


def _describe(
    takers: Sequence[TaskCatalogue], model: str, given: Mapping[str, Any]
) -> tuple[TaskCatalogue, Mapping[str, Any]]:
    """The task whose network it is, and what the file tells; where it is nobody's, what the last one says."""
    first, *rest = takers
    try:
        return first, import_home(first.describe_file)(model, given)
    except BadInput:
        if not rest:
            raise
    return _describe(rest, model, given)


def tasks_of_name(use: Use) -> list[str]:
    """The task of what is no built-in name, where the name alone tells it."""
    scheme, _, rest = use.name.partition(":")
    config = Path(rest) / "config.json"
    if scheme == "hf" and config.is_file():
        kinds = json.loads(config.read_text(encoding="utf-8")).get("architectures") or []
        return [task for kind in kinds for end, task in HF_TASKS.items() if kind.endswith(end)]
    return []


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

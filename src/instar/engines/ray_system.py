"""A system in actors of a Ray cluster: asked like one in a process of its own, on many machines.

An actor keeps a worker process with the system in it, as the local engine does, so that whatever the system
does there is its own failure. An actor that dies, alone or with its node, is the cluster's: its questions are
asked of another one. Pictures are put into the object store once and reach actors by reference.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from typing import Any

from instar.core.errors import BadInput, InstarError, Refused, Temporary
from instar.core.fingerprint import fingerprint_of
from instar.core.system import Limits, RemoteError, System, describe_error
from instar.engines.cluster import Cluster, connect_cluster, fitting_actors
from instar.engines.worker import BUILD_SECONDS, WorkerSystem, unpack_answers
from instar.store.answers import encode_answer

AHEAD = 2  # calls that an actor is given at a time, so that pictures are there when it gets to them
DEATHS = 10  # of actors in a row with the same questions, after which nothing else is to be expected
STARTS = 3  # of actors in a row that died before they were ready
LOOK_SECONDS = 0.5  # between two looks at whether any actor can still come


def build_on_cluster(build: Callable[[], System], cluster: Cluster, *, ours: bool = False) -> RaySystem:
    """The system that `build` makes, which is called only in actors; `ours` has no user's code in it."""
    return RaySystem(_Crew(cluster, partial(WorkerSystem, build, ours=ours)))


def send_to_cluster(system: System, cluster: Cluster) -> System:
    """An object that was built here, in actors; but one that asks a service stays here."""
    if getattr(system, "sends_to", ""):
        return system
    try:
        blob = pickle.dumps(system)
    except Exception as reason:
        raise BadInput(
            f"system {system.name!r} cannot be sent to a cluster ({describe_error(reason)}); "
            "define it in a module that the nodes have"
        ) from reason
    build = partial(pickle.loads, blob)
    return RaySystem(_Crew(cluster, partial(WorkerSystem, build, fingerprint=fingerprint_of(system))))


class RaySystem:
    """A system, or a variant of it, that lives in actors.

    One actor is started at once, so that a system which cannot be built is refused before anything is asked;
    the others when the first question comes.
    """

    isolated = True

    def __init__(self, crew: _Crew, variant: str = "") -> None:
        self._crew, self._variant, self._limits = crew, variant, Limits()
        told = crew.describe(variant)
        self.name, self.fingerprint = str(told["name"]), str(told["fingerprint"])
        self.batch, self.concurrent = int(told["batch"]), AHEAD * crew.wanted
        self.sends_to = str(told["sends_to"])

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        return self._crew.ask(self._variant, self._limits, inputs)

    def limit(self, limits: Limits) -> None:
        """How long calls may take from now on."""
        self._limits = limits

    def variant(self, name: str) -> RaySystem:
        return RaySystem(self._crew, name)

    def load(self) -> str:
        """How many actors there are, in words, and why there are not more where that is known."""
        return self._crew.load()

    def close(self) -> None:
        """End all actors, also in the middle of a call; another call would start them again."""
        self._crew.end()


@dataclass(eq=False, slots=True)
class _Member:
    """An actor that is ready, and what it says of its system."""

    handle: Any
    told: dict[str, Any]


class _Crew:
    """The actors of a system. Each is in `_free` once for every call that it can take."""

    def __init__(self, cluster: Cluster, build: Callable[[], WorkerSystem]) -> None:
        self._ray, self._cluster = connect_cluster(cluster), cluster
        share = {"num_cpus": cluster.cpus, "num_gpus": cluster.gpus}
        self._host = self._ray.remote(Host).options(**share)
        self._setting = (sys.path[:], os.getcwd(), _version(), build)
        self.wanted = cluster.actors or fitting_actors(cluster, self._ray.nodes())
        if not self.wanted:
            raise BadInput(f"no node of the cluster has {cluster.share()} for an actor; see `ray status`")
        self._lock = threading.Lock()
        self._free: queue.SimpleQueue[_Member] = queue.SimpleQueue()
        self._members: set[_Member] = set()
        self._coming: set[Any] = set()
        self._times = self._starts = 0  # that the crew was ended; that actors died before they were ready
        self._fingerprint = self._trouble = ""

    def describe(self, variant: str) -> dict[str, Any]:
        """What the system, or a variant of it, says of itself, in the first actor that is ready."""
        if variant:
            kind, content = self._call("describe", variant)
            if kind != "ready":
                raise BadInput(str(content))
            return dict(content)
        self._hire(1)
        try:
            member = self._take(self._times)
        except Refused as refused:
            raise BadInput(str(refused)) from None
        self._free.put(member)
        return member.told

    def ask(self, variant: str, limits: Limits, inputs: Sequence[Any]) -> Sequence[Any]:
        return unpack_answers(*self._call("answer", variant, limits, self._ray.put(list(inputs))))

    def load(self) -> str:
        trouble = f" ({self._trouble})" if self._trouble else ""
        return f"{len(self._members)} of {self.wanted} actors{trouble}"

    def end(self) -> None:
        with self._lock:
            self._times += 1
            ended = [*self._coming, *(member.handle for member in self._members)]
            self._members.clear()
            self._coming.clear()
        for handle in ended:
            self._ray.kill(handle)  # whoever is in a call hears of it

    def _call(self, method: str, *arguments: Any) -> tuple[str, Any]:
        """The method of an actor that is free; where actors die of it or under it, of another one."""
        times = self._times
        for _ in range(DEATHS):
            self._hire(self.wanted)
            member = self._take(times)
            try:
                told: tuple[str, Any] = self._ray.get(getattr(member.handle, method).remote(*arguments))
            except self._ray.exceptions.RayTaskError as defect:  # none of the system's: those are told
                self._free.put(member)
                raise RemoteError(_first_line(defect)) from None
            except self._ray.exceptions.RayError:
                with self._lock:
                    self._members.discard(member)
                continue
            self._free.put(member)
            return told
        raise Refused(f"{DEATHS} actors died one after the other with the same questions; see `ray status`")

    def _take(self, times: int) -> _Member:
        """An actor that is free, waited for while one may still come."""
        until = time.monotonic() + BUILD_SECONDS
        while True:
            with contextlib.suppress(queue.Empty):
                member = self._free.get(timeout=LOOK_SECONDS)
                if member in self._members:
                    return member
                continue  # it has died meanwhile
            if times != self._times:
                raise RemoteError("the actors were ended")
            if self._members:
                until = time.monotonic() + BUILD_SECONDS
            elif not self._coming and self._trouble:
                raise Refused(self._trouble)
            elif time.monotonic() >= until:
                raise Refused(
                    f"no actor with {self._cluster.share()} was started within {BUILD_SECONDS:g} s; "
                    "see `ray status`, and go on with --resume"
                )

    def _hire(self, most: int) -> None:
        """Start as many actors as are missing."""
        with self._lock:
            for _ in range(min(most, self.wanted) - len(self._members) - len(self._coming)):
                handle = self._host.remote(self._setting)
                self._coming.add(handle)
                threading.Thread(target=self._welcome, args=(handle,), daemon=True).start()

    def _welcome(self, handle: Any) -> None:
        """Wait until the actor is ready, and let it take part."""
        try:
            kind, told = self._ray.get(handle.start.remote())
        except Exception as died:  # of Ray, which says in many ways that an actor could not begin
            kind, told = "died", _first_line(died)
        with self._lock:
            if handle not in self._coming:
                return
            self._coming.discard(handle)
            if kind == "ready":
                self._fingerprint = self._fingerprint or told["fingerprint"]
                if told["fingerprint"] != self._fingerprint:
                    kind, told = (
                        "refused",
                        f"{told['node']} has other files of the system than the first node",
                    )
            if kind == "ready":
                self._starts = 0
                member = _Member(handle, told)
                self._members.add(member)
                for _ in range(AHEAD):
                    self._free.put(member)
                return
            self._starts += 1
            if kind == "refused" or self._starts >= STARTS:
                self.wanted -= 1
                self._trouble = told
                return
        self._hire(self.wanted)


class Host:
    """What runs in an actor."""

    def __init__(self, setting: tuple[list[str], str, str, Callable[[], WorkerSystem]]) -> None:
        self._setting = setting
        self._systems: dict[str, WorkerSystem] = {}
        self._limits: dict[str, Limits] = {}

    def start(self) -> tuple[str, Any]:
        """Build the system, with those of the caller's folders that this node has too."""
        path, folder, version, build = self._setting
        if _version() != version:
            return "refused", f"instar is {version} here and {_version()} on {_node()}"
        sys.path += [place for place in path if place not in sys.path and os.path.exists(place)]
        with contextlib.suppress(OSError):
            os.chdir(folder)
        try:
            self._systems[""] = build()
        except InstarError as refused:
            return "refused", str(refused)
        return self.describe("")

    def describe(self, variant: str) -> tuple[str, Any]:
        try:
            system = self._system(variant)
        except InstarError as refused:
            return "refused", str(refused)
        keys = ("name", "fingerprint", "batch", "sends_to")
        return "ready", {key: getattr(system, key) for key in keys} | {"node": _node()}

    def answer(self, variant: str, limits: Limits, inputs: Sequence[Any]) -> tuple[str, bytes]:
        try:
            system = self._system(variant)
            if self._limits.get(variant) != limits:
                system.limit(limits)
                self._limits[variant] = limits
            return "answers", encode_answer(list(system.predict(inputs)), compress=False)
        except Refused as never:
            return "never", str(never).encode()
        except Temporary as temporary:
            return "temporary", str(temporary).encode()
        except Exception as error:
            return "error", describe_error(error).encode()

    def _system(self, variant: str) -> WorkerSystem:
        if variant not in self._systems:
            self._systems[variant] = self._systems[""].variant(variant)
        return self._systems[variant]


def _version() -> str:
    with contextlib.suppress(PackageNotFoundError):
        return package_version("instar")
    return "not installed"


def _node() -> str:
    return os.uname().nodename


def _first_line(error: BaseException) -> str:
    """What Ray says, without the traceback that follows."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"

"""In actors of a Ray cluster: the same records; killed actors, nodes and drivers lose nothing."""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import planted_core as planted
from instar.campaigns.plan import Use, make_plan, plan_to_toml
from instar.campaigns.resolve import resolve_system
from instar.cli import main
from instar.cli.run import arguments, plan_from
from instar.core.errors import BadInput
from instar.engines.cluster import Cluster, fitting_actors
from instar.installation import install_command
from instar.store import RunStore
from instar.user_file import parse_toml

HERE = Path(__file__).parent
NOBODY = "127.0.0.1:1"
CAMPAIGN = """
import json, sys, time
import instar, planted_core as planted
from instar.engines.cluster import Cluster
from instar.engines.ray_system import send_to_cluster
how = json.loads(sys.argv[1])
def run(out, system, queries, timeout=None):
    seen = set()
    relations = [planted.checked, planted.double]
    for _ in instar.run(planted.pictures(how["scenes"]), relations, system, search=planted.walk(5), seed=1,
                        limits=instar.Limits(queries=queries, timeout=timeout), workers=2,
                        watch=lambda tally: seen.add(tally.actors), out=out, resume=True):
        pass
    return seen
def there(system, actors, cpus):
    return send_to_cluster(system, Cluster(address=how["address"], actors=actors, cpus=cpus))
"""
MANY = (
    CAMPAIGN
    + """
for name, actors, queries in how["runs"]:
    system, timeout = getattr(planted, name)(), 120
    if actors:
        system, timeout = there(system, actors, 0.5), None
        system.predict([planted.pictures(1)[0].image])
        while system.load() != f"{actors} of {actors} actors":
            time.sleep(0.05)
    seen = run(f"{how['out']}/{name}-{actors}", system, queries, timeout)
    if actors:
        assert all(text.startswith(f"{actors} of {actors} actors, ") for text in seen), seen
print("ended")
"""
)
ONE = (
    CAMPAIGN
    + """
system = planted.Gated(how["log"], batch=3)
if how["actors"]:
    system = there(system, how["actors"], 1)
print(json.dumps(sorted(run(how["out"], system, how["queries"]))))
"""
)


def start(code, **how):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(how)], env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def end(process):
    out, err = process.communicate(timeout=3000)
    assert process.returncode == 0, err
    return out


def kept(run):
    """Everything that a run keeps but times: records, answers, pictures."""
    with RunStore.read(run) as store:
        records = planted.rows(store.records())
    with sqlite3.connect(run / "run.sqlite") as database:
        answers = sorted(database.execute("SELECT input, repeat, answer, error FROM answers"))
        prints = sorted(database.execute("SELECT fingerprint FROM systems"))
    return records, answers, prints


def asked(log):
    return Counter(log.read_text().split()) if log.exists() else Counter()


def committed(run):
    if not (run / "run.sqlite").exists():
        return Counter()
    database = sqlite3.connect(run / "run.sqlite")
    try:
        return Counter(row[0].hex() for row in database.execute("SELECT input FROM answers"))
    except sqlite3.OperationalError:  # killed before the tables were made
        return Counter()
    finally:
        database.close()


def wait_until(condition, seconds=1200.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray")
    from ray_clusters import cluster

    with cluster(4) as (address, nodes):
        yield address, nodes


@pytest.mark.real
def test_records_are_those_of_the_local_engine_for_any_number_of_actors(cluster, tmp_path):
    most = {"Hashed": (0, 1, 2, 4), "Failing": (0, 2)}
    runs = [(name, n, 200 if name == "Hashed" else 40) for name, numbers in most.items() for n in numbers]
    assert end(start(MANY, address=cluster[0], scenes=8, runs=runs, out=str(tmp_path))) == "ended\n"
    for name, numbers in most.items():
        local = kept(tmp_path / f"{name}-0")
        assert local[0]
        for actors in numbers[1:]:
            assert kept(tmp_path / f"{name}-{actors}") == local
    errors = {row[3] for row in kept(tmp_path / "Failing-0")[1]}
    assert {"the system's process died (exit code 3)", "KeyError: 'no such layer'"} < errors


@pytest.mark.real
def test_named_systems_are_asked_like_here(cluster, tmp_path):
    words = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:4"]
    words += ["--budget", "120", "--seed", "2", "--json"]
    ray = ["--on", "ray", "--address", cluster[0], "--set", "ray.actors=2", "--set", "ray.cpus=0.5"]
    command = [sys.executable, "-m", "instar", *words]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    for out, more in (("here", []), ("there", ray)):
        done = subprocess.run(
            [*command, "--out", out, *more], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 1, done.stderr
        assert json.loads(done.stdout)["asked"] == 120
    assert kept(tmp_path / "there") == kept(tmp_path / "here")


class Driver:
    """A process that runs the campaign; its system stops where it is allowed to."""

    def __init__(self, run, log, address=None, actors=0):
        self.log, self._most = log, log.with_name(f"{log.name}.most")
        self._most.write_text("0")
        self.process = start(
            ONE, address=address, actors=actors, out=str(run), log=str(log), queries=300, scenes=10
        )

    def ask_more(self, n):
        """Let so many more be asked, and wait until actors hang in what is too many."""
        most = sum(asked(self.log).values()) + n
        self._most.write_text(str(most))
        wait_until(lambda: sum(asked(self.log).values()) > most or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()[1]

    def end(self):
        self._most.unlink()
        return json.loads(end(self.process))

    def kill(self):
        self.process.kill()
        self.process.communicate()


@pytest.mark.real
def test_killed_actors_and_drivers_lose_nothing_and_ask_nothing_committed_twice(cluster, tmp_path):
    address, (head, *_) = cluster
    Driver(tmp_path / "whole", tmp_path / "whole.log").end()
    whole, needed = kept(tmp_path / "whole"), committed(tmp_path / "whole")
    run, chance = tmp_path / "run", random.Random(7)
    for session in range(3):
        known, log = committed(run), tmp_path / f"{session}.log"
        driver = Driver(run, log, address, actors=3)
        for _ in range(3):
            driver.ask_more(chance.randint(3, 12))
            chance.choice(head.actors()).send_signal(signal.SIGKILL)
        if session < 2:
            driver.ask_more(chance.randint(3, 12))
            driver.kill()
            wait_until(lambda: not head.actors())
        else:
            driver.end()
        assert not set(asked(log)) - set(needed - known), "something committed was asked again"
        # A question may be asked twice only where an actor died with it.
        assert sum((asked(log) - needed).values()) <= 3 * 2 * 3
        assert not known - committed(run)
    assert kept(run) == whole


@pytest.mark.real
def test_a_node_that_dies_takes_nothing_with_it(tmp_path):
    pytest.importorskip("ray")
    from ray_clusters import cluster

    Driver(tmp_path / "whole", tmp_path / "whole.log").end()
    with cluster(1, 2) as (address, (head, other)):
        driver = Driver(tmp_path / "run", tmp_path / "log", address, actors=3)
        wait_until(lambda: len(head.actors()) == 1 and len(other.actors()) == 2)
        driver.ask_more(60)
        other.kill()
        seen = driver.end()
    assert any(text.startswith("1 of 3 actors") for text in seen)
    assert kept(tmp_path / "run") == kept(tmp_path / "whole")
    assert set(asked(tmp_path / "log")) == set(committed(tmp_path / "whole"))


@pytest.mark.real
def test_a_system_that_cannot_be_built_there_is_refused_in_the_same_line(cluster):
    code = """
import json, sys
import instar, planted_core as planted
from instar.engines.cluster import Cluster
how = json.loads(sys.argv[1])
for cpus, system in ((0.5, planted.Unloadable(ValueError("no weights"))), (64, planted.Hashed())):
    cluster = Cluster(address=how["address"], cpus=cpus)
    try:
        list(instar.run(planted.pictures(1), planted.plain, system, cluster=cluster))
    except instar.InstarError as refused:
        print(refused)
"""
    assert end(start(code, address=cluster[0])).splitlines() == [
        "the system cannot be built: ValueError: no weights",
        "no node of the cluster has 64 CPU for an actor; see `ray status`",
    ]


RUN = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:1"]


def refusal(words, capsys):
    assert main([*RUN, *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_cluster_that_is_not_there_is_refused_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refusal(["--on", "ray", "--address", NOBODY], capsys)
    assert line.startswith(f"instar: no Ray cluster can be reached at {NOBODY} (")
    assert "or give --address" in line
    assert not (tmp_path / "runs").exists()
    line = refusal(["--on", "ray", "--address", "somewhere"], capsys)
    assert line == "instar: address 'somewhere' is not of the form host:port"


def test_without_ray_the_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    line = refusal(["--on", "ray"], capsys)
    command = install_command("ray")
    assert line == f"instar: --on ray needs ray, which is not installed; run: {command}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--address", NOBODY], "--address is of a cluster; give --on ray"),
        (["--set", "ray.actors=2"], "--set 'ray.actors=2': it is of a cluster; give --on ray"),
        (["--on", "ray", "--set", "ray.actors=0"], "ray: actors is 0; it must be at least 1"),
        (["--on", "ray", "--set", "ray.gpus=1.5"], "ray: gpus is 1.5; above 1 it must be a whole number"),
        (
            ["--on", "ray", "--set", "ray.cpus=0"],
            "ray: an actor needs a share of something; give cpus or gpus",
        ),
    ],
)
def test_what_is_said_of_a_cluster_is_checked(words, told, capsys):
    assert refusal(words, capsys) == f"instar: {told}"


def test_a_plan_keeps_its_cluster_and_a_flag_takes_it_back(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(
        'scenes = "street:1"\n[[system]]\nuse = "street-blobs"\n[ray]\naddress = "a:1"\ncpus = 2\n'
    )
    parser = argparse.ArgumentParser()
    arguments(parser)

    def plan(*words):
        return plan_from(parser.parse_args([str(file), "--relation", "insertion", *words]))

    assert plan().ray == Cluster(address="a:1", cpus=2)
    assert plan("--address", "b:2", "--set", "ray.actors=3").ray == Cluster(address="b:2", cpus=2, actors=3)
    assert plan("--on", "local").ray is None
    assert make_plan(parse_toml(plan_to_toml(plan()))).ray == plan().ray


def test_actors_are_counted_by_node():
    nodes = [
        {"Alive": True, "Resources": {"CPU": 3.0}},
        {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}},
        {"Alive": False, "Resources": {"CPU": 8.0, "GPU": 8.0}},
    ]
    assert fitting_actors(Cluster(cpus=2), nodes) == 5
    assert fitting_actors(Cluster(cpus=2, gpus=0.5), nodes) == 4
    assert fitting_actors(Cluster(cpus=0, gpus=1), nodes) == 2


def test_a_service_is_asked_from_here_so_that_its_rate_holds():
    service = Use("http://127.0.0.1:9/predict", {"rate": 3.0})
    system = resolve_system(service, tasks=["detection"], cluster=Cluster(address=NOBODY))
    assert not getattr(system, "isolated", False)
    with pytest.raises(BadInput, match="no Ray cluster can be reached"):
        resolve_system(Use("street-blobs"), cluster=Cluster(address=NOBODY))

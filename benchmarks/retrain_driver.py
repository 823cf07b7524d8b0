"""Does a driver that never saw a person learn from pictures that violate a rule? And what does it unlearn?

python benchmarks/retrain_driver.py OUT.json [--scenes 300] [--steps 300] [--seeds 5] [--device cuda]

`vgg16-blind` learns for equally many steps from equally many pictures. Half of them are drives without
people, half are of one kind: more of these (natural), pictures that violate Rule 1 (failing), that keep it
(passing), any picture with a person (random), the worst of eight of each drive (chosen). Labels are what the
careful driver does on the drive that a picture shows. Then it is asked about drives that nobody has seen.
Violations are of the bare inequality, as the paper counts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch

from instar.core.change import Inapplicable
from instar.core.scene import Observation, Scene
from instar.core.workspace import Folder
from instar.tasks.driving import rule
from instar.tasks.driving.answers import Control
from instar.tasks.driving.systems.bundled_networks import WEIGHTS, card
from instar.tasks.driving.systems.onnx import OnnxDriver
from instar.training.driving.networks import Driver, build_network
from instar.training.driving.start import begin_as, start_of_onnx
from instar.worlds.drive import careful_speed
from instar.worlds.drive.driver import careful_steering
from instar.worlds.drive.scenes import drive_of, scene_of, scenes

RULE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down."
PEOPLE = ("pedestrian", "bicyclist")
KINDS = ("natural", "failing", "passing", "random", "chosen")
DRAWS = 8
BATCH = 32
Pictures = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float32]


def emptied(number: int, seed: int) -> list[Scene]:
    """Drives without people."""
    found = []
    for scene in scenes(number, seed=seed):
        drive = scene.knowledge["drive"]
        left = tuple(thing for thing in drive.things if thing.kind not in PEOPLE)
        found.append(scene_of(replace(drive, things=left), scene.id))
    return found


def drawn(empty: list[Scene], draws: int, seed: int) -> tuple[list[list[Pictures]], list[list[list[float]]]]:
    """For each drive its pictures with somebody at the roadside, and what the careful driver does there."""
    relation = rule(RULE)
    if relation.prepare is not None:
        relation = prepared(relation, empty)
    assert relation.draw is not None
    pictures, truths = [], []
    for number, scene in enumerate(empty):
        source = Observation.of(scene.image, Control(), scene)
        made: list[Pictures] = []
        truth: list[list[float]] = []
        for draw in range(draws):
            change: Any = relation.draw(source, np.random.default_rng([seed, number, draw]))
            follow_up: Any = change
            if not isinstance(change, Inapplicable):
                follow_up = relation.apply(source.input, change)
            if isinstance(follow_up, Inapplicable):
                continue
            picture = follow_up[0] if isinstance(follow_up, (list, tuple)) else follow_up
            drive = drive_of(picture)
            made.append(np.ascontiguousarray(picture))
            truth.append([careful_speed(drive), careful_steering(drive)])
        pictures.append(made)
        truths.append(truth)
    return pictures, truths


def prepared(relation: Any, empty: list[Scene]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return relation.prepare(empty, Folder(Path(folder)))


def stored(name: str) -> Callable[[], Driver]:
    """The network that comes with instar, made to learn; it answers as the stored one does."""
    about = card(name)
    pictures = np.stack([np.ascontiguousarray(scene.image) for scene in scenes(48, seed=77)])
    path = Path(str(WEIGHTS / f"{name}.onnx"))
    model = build_network(about["network"], about["outputs"], width=about["width"])
    begin_as(model, start_of_onnx(path, model), pictures)
    asked = OnnxDriver(path, name=name).predict(list(pictures))
    wanted = np.array([[answer.speed, answer.steering] for answer in asked])
    plain = ask(model, pictures)
    for column in range(2):
        spread, centre = np.polyfit(plain[:, column], wanted[:, column], 1)
        model.spread[column], model.centre[column] = float(spread), float(centre)
    weights = {key: value.clone() for key, value in model.state_dict().items()}

    def again() -> Driver:
        fresh = build_network(about["network"], about["outputs"], width=about["width"])
        fresh.load_state_dict(weights)
        return fresh

    return again


def ask(model: Driver, pictures: Pictures) -> Numbers:
    model.eval()
    device = model.spread.device
    with torch.inference_mode():
        parts = [model(batch.to(device)).cpu() for batch in torch.from_numpy(pictures).split(64)]
    return torch.cat(parts).numpy()


def learn(model: Driver, pictures: Pictures, truths: Numbers, steps: int, seed: int, device: str) -> Driver:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model.to(device).train()
    shown, wanted = torch.from_numpy(pictures).to(device), torch.from_numpy(truths).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-4, total_steps=steps + 1)
    for _ in range(steps):
        chosen = torch.from_numpy(rng.choice(len(pictures), BATCH, replace=len(pictures) < BATCH)).to(device)
        off = (model(shown[chosen]) - wanted[chosen]) / model.spread
        loss = torch.nn.functional.smooth_l1_loss(off, torch.zeros_like(off))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        schedule.step()
    return model.cpu()


class Fresh:
    """Drives that nobody has learned from, without people and with one at the roadside."""

    def __init__(self, number: int, seed: int) -> None:
        empty = emptied(number, seed)
        made, truths = drawn(empty, 1, seed)
        kept = [i for i, one in enumerate(made) if one]
        self.empty = np.stack([np.ascontiguousarray(empty[i].image) for i in kept])
        self.empty_truth = truth_of([empty[i] for i in kept])
        self.people = np.stack([made[i][0] for i in kept])
        self.people_truth = np.array([truths[i][0] for i in kept], np.float32)

    def measure(self, model: Driver) -> dict[str, float]:
        before, after = ask(model, self.empty), ask(model, self.people)
        moving = before[:, 0] >= 1
        slower = (before[moving, 0] - after[moving, 0]) / before[moving, 0]
        return {
            "judged": int(moving.sum()),
            "rule 1": float((slower <= 0).mean()),
            "rule 3": float((slower < 0.3).mean()),
            "speed, people": float(np.abs(after - self.people_truth)[:, 0].mean()),
            "speed, nobody": float(np.abs(before - self.empty_truth)[:, 0].mean()),
            "steering, people": float(np.abs(after - self.people_truth)[:, 1].mean()),
            "steering, nobody": float(np.abs(before - self.empty_truth)[:, 1].mean()),
        }


def truth_of(some: list[Scene]) -> Numbers:
    return np.array([[s.knowledge["speed"], s.knowledge["steering"]] for s in some], np.float32)


def main(args: argparse.Namespace) -> None:
    cv2.setNumThreads(1)
    began = time.time()
    blind = stored("vgg16-blind")
    fresh = Fresh(args.fresh, seed=501)
    told: dict[str, Any] = {
        "before": fresh.measure(blind()),
        "twin": fresh.measure(stored("vgg16-street")()),
        "trainings": [],
    }
    empty, more = emptied(args.scenes, 401), emptied(args.scenes, 402)
    made, truths = drawn(empty, DRAWS, 401)
    pools = chosen_of(blind(), empty, made, truths)
    pools["natural"] = [(np.ascontiguousarray(scene.image), list(truth_of([scene])[0])) for scene in more]
    told["pictures"] = {kind: len(pools[kind]) for kind in KINDS}
    number = min(len(pool) for pool in pools.values())
    told["of each"] = number
    keep(told, args.out)
    print(f"{time.time() - began:.0f} s", json.dumps(told), flush=True)
    basis = np.stack([np.ascontiguousarray(scene.image) for scene in empty[:number]])
    basis_truth = truth_of(empty[:number])
    for seed in range(args.seeds):
        for kind in KINDS:
            if time.time() - began > args.seconds:
                return
            order = np.random.default_rng([seed, 5]).permutation(len(pools[kind]))[:number]
            pictures = np.concatenate([basis, np.stack([pools[kind][i][0] for i in order])])
            wanted = np.concatenate([basis_truth, np.array([pools[kind][i][1] for i in order], np.float32)])
            begun = time.time()
            model = learn(blind(), pictures, wanted, args.steps, seed, args.device)
            result = {"kind": kind, "seed": seed, "seconds": time.time() - begun} | fresh.measure(model)
            told["trainings"].append(result)
            keep(told, args.out)
            print(json.dumps(result), flush=True)


def chosen_of(
    model: Driver, empty: list[Scene], made: list[list[Pictures]], truths: list[list[list[float]]]
) -> dict[str, list[tuple[Pictures, list[float]]]]:
    """By kind, at most one picture of each drive."""
    pools: dict[str, list[tuple[Pictures, list[float]]]] = {kind: [] for kind in KINDS}
    for scene, pictures, wanted in zip(empty, made, truths):
        if not pictures:
            continue
        source = ask(model, np.ascontiguousarray(scene.image)[None])[0, 0]
        slower = source - ask(model, np.stack(pictures))[:, 0]
        failing, passing = np.flatnonzero(slower <= 0), np.flatnonzero(slower > 0)
        picks = {
            "failing": failing[:1],
            "passing": passing[:1],
            "random": [0],
            "chosen": [int(slower.argmin())],
        }
        for kind, indices in picks.items():
            pools[kind] += [(pictures[i], wanted[i]) for i in indices]
    return pools


def keep(told: dict[str, Any], path: str) -> None:
    Path(path + ".part").write_text(json.dumps(told, indent=1), encoding="utf-8")
    os.replace(path + ".part", path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--fresh", type=int, default=150)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no training after that")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    main(parser.parse_args())

"""yolox-nano in torch takes many pictures at once on a GPU; here the CPU stands in for one."""

from __future__ import annotations

import numpy as np
import pytest

from instar.tasks.detection.systems.onnx import yolox_torch
from instar.worlds import street

pytestmark = pytest.mark.real

torch = pytest.importorskip("torch", reason="the extra torch is not installed; make test-real has it")
torch_session = pytest.importorskip("instar.adapters.torch_session")


def test_many_pictures_together_are_found_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = [scene.image for scene in street.scenes(5, size=(240, 320))]
    pictures[1] = np.ascontiguousarray(pictures[1][:200])  # they need not be of one size
    alone = yolox_torch()
    monkeypatch.setattr(torch_session, "require_device", lambda device, owner: "cpu:0")
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    together = yolox_torch(device="cpu:0")
    assert (together.batch, together.concurrent) == (64, 2)
    assert together.fingerprint != alone.fingerprint
    for one, other in zip(alone.predict(pictures), together.predict(pictures)):
        assert one.labels == other.labels
        np.testing.assert_allclose(one.boxes, other.boxes, atol=1e-2)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)

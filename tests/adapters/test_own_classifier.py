"""A user's own torch module: what it must answer with."""

import pytest

from instar.core.errors import BadInput

torch = pytest.importorskip("torch", reason="the extra torch is not installed")
OPTIONS = {
    "classes": None,
    "size": [16, 16],
    "mean": None,
    "deviation": None,
    "independent": False,
    "bgr": False,
}


class Net(torch.nn.Module):
    def __init__(self, end):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.end = torch.nn.Conv2d(3, 4, 3), end

    def forward(self, x):
        return self.end(self.layer(x).mean((2, 3)))


def classifier(end):
    from instar.adapters.own_classifier import own_classifier

    return own_classifier(Net(end), "net", **OPTIONS, device="cpu")


@pytest.mark.parametrize("end", [torch.nn.Identity(), torch.relu, torch.nn.LogSoftmax(1)])
def test_logits_are_taken_as_they_are(end):
    assert classifier(end).labels == ("class 0", "class 1", "class 2", "class 3")


@pytest.mark.parametrize(("end", "word"), [(torch.nn.Softmax(1), "softmax"), (torch.sigmoid, "sigmoid")])
def test_a_network_that_ends_in_probabilities_is_refused_with_what_to_do(end, word):
    with pytest.raises(BadInput, match=f"ends in a {word}: .* Give the network without its last layer"):
        classifier(end)

"""Small networks for tests of interpreters; import this only where torch is there."""

import torch
from torch import nn
from torch.nn import functional

from instar.adapters.classifier import Classifier

SIZE = (32, 48)


def classifier(module, *, size=SIZE, labels=5, independent=False):
    return Classifier(
        name="small",
        module=module,
        labels=tuple("abcdefghij"[:labels]),
        outputs=tuple((i,) for i in range(labels)),
        size=size,
        fingerprint="small",
        independent=independent,
    )


def sequential(seed=0, *, norm=False, classes=5):
    """Convolutions, rectifiers, a pooling and two linear layers, like VGG."""
    torch.manual_seed(seed)
    layers = []
    for inside, outside in ((3, 8), (8, 12)):
        layers.append(nn.Conv2d(inside, outside, 3, padding=1))
        if norm:
            layers.append(wandering(nn.BatchNorm2d(outside)))
        layers += [nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(12 * 8 * 12, 16), nn.ReLU(), nn.Linear(16, classes)]
    return nn.Sequential(*layers)


VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)


def vgg16(*, hidden=128, classes=5):
    """The convolutions and poolings of VGG-16, with narrower linear layers behind them."""
    torch.manual_seed(0)
    layers, inside = [], 3
    for outside in VGG16:
        if not outside:
            layers.append(nn.MaxPool2d(2))
            continue
        layers += [nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU()]
        inside = outside
    layers += [nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(25088, hidden), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes))


def wandering(norm):
    """A batch normalisation that does something, some of it upside down."""
    with torch.no_grad():
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        norm.weight.normal_()
        norm.bias.normal_()
    return norm


class Spelled(nn.Module):
    """Rectifiers in every spelling: module, in place, function, method and clamp."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.convolutions = nn.ModuleList(nn.Conv2d(a, 6, 3, padding=1) for a in (3, 6, 6, 6, 6))
        self.relu = nn.ReLU(inplace=True)
        self.linear = nn.Linear(6, 5)

    def forward(self, x):
        first, second, third, fourth, fifth = self.convolutions
        x = self.relu(first(x))
        x = functional.relu(second(x))
        x = third(x).relu()
        x = fourth(x).clamp(min=0)
        x = fifth(x)
        x.relu_()
        return self.linear(x.mean((2, 3)))

    def modules_only(self):
        parts = [part for one in self.convolutions for part in (one, nn.ReLU())]
        return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), self.linear)


class Branching(nn.Module):
    """Residual sums (also in place), batch normalisation, concatenation and average pooling."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), wandering(nn.BatchNorm2d(8)), nn.ReLU())
        self.first = nn.Conv2d(8, 8, 3, padding=1)
        self.norm = wandering(nn.BatchNorm2d(8))
        self.pool = nn.AvgPool2d(2)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.third = nn.Conv2d(8, 8, 1)
        self.linear = nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.first(x))
        y += x
        x = self.pool(functional.relu(y))
        x = functional.relu(self.second(x) + x, inplace=True)
        x = torch.cat([functional.relu(self.third(x)), x], 1)
        return self.linear(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Gated(nn.Module):
    """Does what excitation backpropagation has no rule for."""

    def __init__(self):
        super().__init__()
        self.convolution, self.linear = nn.Conv2d(3, 4, 3), nn.Linear(4, 5)

    def forward(self, x):
        x = functional.relu(self.convolution(x))
        x = x * torch.sigmoid(x)
        return self.linear(x.mean((2, 3)))

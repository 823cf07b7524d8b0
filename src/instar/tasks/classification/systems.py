"""Classifiers as systems; all need torch."""

from functools import partial

from instar.adapters.classifier_system import imagenet_classifier, own_module, street_classifier

__all__ = ["mobilenet_v2", "own", "resnet50", "street_classifier"]

own = own_module
mobilenet_v2 = partial(imagenet_classifier, "mobilenet-v2")
mobilenet_v2.__doc__ = "MobileNetV2 of ImageNet; needs torch."
resnet50 = partial(imagenet_classifier, "resnet50")
resnet50.__doc__ = "ResNet-50 of ImageNet; needs torch."

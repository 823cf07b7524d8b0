"""What driving brings along, by name."""

TITLE = "Driving"
SYSTEMS = {
    "street-driver": "systems.street:street_driver",
    "epoch-street": "systems.bundled_networks:epoch_street",
    "vgg16-street": "systems.bundled_networks:vgg16_street",
    "resnet101-street": "systems.bundled_networks:resnet101_street",
    "vgg16-blind": "systems.bundled_networks:vgg16_blind",
    "epoch-ch2": "systems.bundled_networks:epoch_ch2",
    "vgg16-ch2": "systems.bundled_networks:vgg16_ch2",
    "resnet101-ch2": "systems.bundled_networks:resnet101_ch2",
    "vgg16-track": "systems.bundled_networks:vgg16_track",
    "deepracer": "systems.deepracer:deepracer",
    "onnx-driver": "systems.onnx:onnx_driver",
    "street-maps": "systems.street_maps:street_maps",
    "torch-driver": "systems.torch_network:torch_driver",
}
RELATIONS = {"rule": "relations:rule", "deeptest": "distortion:deeptest"}
CARDS = "systems.bundled_networks:read_cards"
COMMANDS = {"rule": "rules.command"}
REMARK = "remark:remark"
WORLD = "drive"  # what `street:N` means to a driver
IMPORTED = {
    "engines": (
        "pasted",
        "camvid",
        "camvid_whole",
        "translated",
        "rendered",
        "migan",
        "deeptest_pasted",
        "deeptest_rendered",
    ),
    "network": (),
}

"""The rules of the paper and some more, and the drivers that they catch."""

SLOW = "the ego-vehicle should slow down"
SAME = "the steering angle of ego-vehicle should keep the same"
RULES = {
    "pedestrian": f"If: a pedestrian appears on the roadside, Then: {SLOW}.",
    "sign": f"If: a speed limit sign appears on the roadside, Then: {SLOW}.",
    "30 %": f"If: a pedestrian appears on the roadside, Then: {SLOW} at least 30%.",
    "closer": f"If: a pedestrian appears on the roadside, Then: {SLOW}. "
    "If: he gets closer to the ego-vehicle, Then: the speed should decrease more.",
    "no lines": f"If: lane lines are removed from the road, Then: {SAME}.",
    "trees": f"If: the buildings are replaced with trees, Then: {SAME}.",
    "night": f"If: the driving time changes into night, Then: {SLOW}.",
    "closer sign": f"If: a speed limit sign appears on the roadside, Then: {SLOW}. "
    "If: it gets closer, Then: the speed should decrease more.",
    "no lines, trees": "If: lane lines are removed from the road and the buildings are replaced with trees, "
    f"Then: {SAME}.",
    "night, pedestrian": f"If: the driving time changes into night, Then: {SLOW}. "
    "If: a pedestrian appears on the roadside, Then: the speed should decrease more.",
    "rain": f"If the weather changes to a rainy day, {SAME}.",
    # More of the language, on the same drives.
    "snow": "If it snows heavily, slow down.",
    "fog": "If there is thick fog, the speed should decrease by at least 10 %.",
    "in front": "If a pedestrian stands in front of the ego-vehicle, brake by at least 30 percent.",
    "two": "If two pedestrians appear on the sidewalk, the car should slow down by more than 40%.",
    "bicyclist": "If a cyclist appears on the road, slow down.",
    "car ahead": "If a red car appears in front of the ego-vehicle, slow down.",
    "red light": "If a red traffic light appears on the roadside, slow down.",
    "no people": "If the pedestrians are removed, do not slow down.",
    "white cars": "If the cars are replaced with trucks, the steering angle should stay the same.",
    "no trees": "If the trees disappear, the steering angle should remain unchanged.",
}
PAPER = tuple(RULES)[:11]

CAUGHT_BY = {
    "ignores people": {"pedestrian", "30 %", "closer", "night, pedestrian", "in front", "two", "bicyclist"},
    "ignores distance": {"closer", "closer sign"},
    "brakes a tenth": {"30 %", "in front", "two"},
    "steers by lines": {"no lines", "no lines, trees"},
    "hurries at night": {"night", "night, pedestrian"},
}
"""The rules that speak of each fault."""

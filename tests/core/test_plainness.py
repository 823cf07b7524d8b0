from instar.core.verdict import Finding


def seen(score, side):
    return {"label": "dog", "score": score, "box": [0.0, 0.0, float(side), float(side)]}


def test_what_is_plainly_a_failure_comes_first():
    large = Finding("lost", "object 1", -0.8, {"was": seen(0.8, 300)}, known="real")
    small = Finding("lost", "object 2", -0.9, {"was": seen(0.9, 30)}, known="real")
    appears = Finding("invented", "new dog", -0.8, {"is": seen(0.8, 300)}, known="real")
    false = Finding("lost", "object 3", -0.9, {"was": seen(0.9, 300)}, known="was false")
    findings = sorted([false, small, appears, large], key=lambda finding: finding.plainness)
    assert findings == [large, appears, small, false]


def test_what_has_no_box_goes_by_its_margin_alone():
    for evidence in ({}, {"was": [1, 2, 3]}, {"was": {"box": "nowhere"}}, {"is": None}):
        assert Finding("lost", "box 1", -0.5, evidence).plainness[1] == -0.5


def test_corners_are_as_plain_as_the_box_around_as_much():
    box, corners = {"box": (0, 0, 30, 40)}, [[0, 0], [30, 0], [30, 40], [0, 40]]
    turned = [[0, 20], [24, -10], [44, 10], [20, 40]]
    assert (
        Finding("lost", "", -0.5, {"was": box}).plainness
        == Finding("lost", "", -0.5, {"was": corners}).plainness
    )
    assert Finding("lost", "", -0.5, {"was": turned}).plainness[1] < -0.05

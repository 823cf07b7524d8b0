"""The power table, kept: every planted fault is found, and the honest interpreter is not accused.

On drawn streets, with the classifier that comes along. The table on photographs is made by
`benchmarks/explanation_power.py`.
"""

import pytest

from planted_explanations import FAULTS

pytest.importorskip("torch", reason="the extra torch is not installed")
pytestmark = pytest.mark.real


def accusations(bench, fault):
    """(violated, judged) of each relation."""
    from explanation_power import count
    from instar.tasks.interpretation.catalogue import SUITE

    return {name: count(bench.judge(name, fault)) for name in SUITE}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    from explanation_power import PowerBench
    from instar.tasks.interpretation.systems import street_classifier
    from instar.worlds import street

    system = street_classifier(interpreter="grad-cam")
    return PowerBench(system, street.scenes(3), tmp_path_factory.mktemp("power"))


@pytest.fixture(scope="module")
def honest(bench):
    return accusations(bench, None)


def test_the_honest_interpreter_is_accused_in_at_most_one_case_of_a_hundred(honest):
    violated, judged = (sum(one[i] for one in honest.values()) for i in (0, 1))
    assert judged > 100
    assert violated <= judged / 100, honest


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(bench, honest, fault):
    found = accusations(bench, fault)
    assert any(found[name][0] > honest[name][0] for name in found), found

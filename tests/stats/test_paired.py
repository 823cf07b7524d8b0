import pytest
from scipy.stats import binomtest

from instar.stats.paired import mcnemar


@pytest.mark.parametrize("pair", [(0, 1), (3, 3), (1, 9), (12, 40), (400, 500), (900, 1100)])
def test_the_exact_test_is_the_binomial_one(pair):
    expected = binomtest(min(pair), sum(pair), 0.5).pvalue
    assert mcnemar(*pair) == pytest.approx(expected, rel=1e-9 if sum(pair) <= 1000 else 0.02)
    assert mcnemar(*pair) == mcnemar(*reversed(pair))


def test_no_difference_says_nothing_and_less_than_none_is_refused():
    assert mcnemar(0, 0) == 1.0
    with pytest.raises(ValueError, match="no numbers of pairs"):
        mcnemar(-1, 3)

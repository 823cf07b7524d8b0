"""Correlation and regression agree with scipy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from instar.stats.correlation import correlations, regress

X = np.array([[0.5, -1.0], [-0.1, 0.0], [-1.1, 0.3], [-0.9, 1.0], [0.2, 0.1], [-0.6, -0.1], [-2.0, -1.1],
              [0.4, -2.1], [0.8, -1.7], [0.8, -0.8]])  # fmt: skip
Y = np.array([1.5, 0.0, -2.3, -0.5, 1.2, -0.6, -1.6, 1.3, 1.0, 2.0])


def test_a_correlation_is_that_of_scipy():
    # scipy 1.17 pearsonr
    assert correlations(np.column_stack([X[:, 0], Y]))[0, 1] == pytest.approx(0.9093700143890386)


def test_missing_values_leave_out_their_row_for_that_pair_only():
    table = np.column_stack([X, Y])
    table[0, 1] = np.nan
    found = correlations(table)
    assert found[0, 2] == pytest.approx(0.9093700143890386)
    assert found[1, 2] == pytest.approx(np.corrcoef(X[1:, 1], Y[1:])[0, 1])
    assert (found == found.T).all()


@pytest.mark.parametrize("column", [np.full(10, 3.0), np.full(10, np.nan)])
def test_nothing_is_said_of_a_column_that_does_not_vary(column):
    assert np.isnan(correlations(np.column_stack([Y, column]))[0, 1])


def test_what_differs_in_its_last_bit_does_not_vary():
    shares = np.array([29 / 30, np.nextafter(29 / 30, 1)] * 5)
    assert np.isnan(correlations(np.column_stack([Y, shares]))[0, 1])
    with pytest.raises(ValueError, match="does not vary"):
        regress(X, shares)
    flat = regress(np.column_stack([X[:, 0], shares]), Y)
    assert flat.weights[1] == pytest.approx(0, abs=1e-9)
    assert flat.r2_unseen == pytest.approx(regress(X[:, :1], Y).r2_unseen)


@pytest.mark.parametrize(
    ("ridge", "weights", "r2", "r2_unseen"),
    [
        # scikit-learn 1.9.1: StandardScaler, LinearRegression and Ridge(alpha=2), LeaveOneOut
        (0.0, [1.181091185010545, -0.1280777341983299], 0.8342812588239887, 0.5061015446832732),
        (2.0, [0.9652902827465394, -0.18224173079916745], 0.8127585285120753, 0.7256626579230404),
    ],
)
def test_a_regression_is_that_of_scikit_learn(ridge, weights, r2, r2_unseen):
    fit = regress(X, Y, ridge=ridge)
    assert fit.weights == pytest.approx(weights)
    assert fit.intercept == pytest.approx(0.2)
    assert (fit.r2, fit.r2_unseen) == pytest.approx((r2, r2_unseen))


def test_noise_explains_nothing_that_was_not_seen():
    rng = np.random.default_rng(0)
    fit = regress(rng.normal(size=(30, 5)), rng.normal(size=30))
    assert fit.r2 > 0.05
    assert fit.r2_unseen < 0


def test_features_that_coincide_share_the_weight():
    fit = regress(np.column_stack([X[:, 0], X[:, 0]]), Y)
    assert fit.weights[0] == pytest.approx(fit.weights[1])


@pytest.mark.parametrize(
    ("x", "y", "ridge", "reason"),
    [
        (X[:3], Y[:3], 0, "3 rows are too few for 2 features"),
        (X, np.ones(10), 0, "does not vary"),
        (X, Y, -1, "ridge is -1"),
    ],
)
def test_senseless_regressions_are_refused(x, y, ridge, reason):
    with pytest.raises(ValueError, match=reason):
        regress(x, y, ridge=ridge)

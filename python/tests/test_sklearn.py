"""The checks of scikit-learn that apply to estimators on graphs: those about parameters.

The others pass a matrix of numbers to fit(), which is not a graph.
"""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from sklearn.utils import estimator_checks  # noqa: E402

import lase  # noqa: E402

CHECKS = [
    "check_get_params_invariance",
    "check_set_params",
    "check_parameters_default_constructible",
    "check_no_attributes_set_in_init",
    "check_estimator_cloneable",
    "check_estimator_repr",
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("estimator", [lase.NodeClassifier, lase.NodeRegressor, lase.LINE])
def test_applicable_check(check: str, estimator: type) -> None:
    function = getattr(estimator_checks, check, None)
    if function is None:
        pytest.skip("this version of scikit-learn does not have the check")
    function(estimator.__name__, estimator())

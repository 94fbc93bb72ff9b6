"""The design of a network: parameters are the coefficients, and have no other scale."""

import numpy as np

from tacit.design.network_design import NetworkDesign
from tacit.design.response import Absent


def test_parameters_are_released_as_they_are() -> None:
    design = NetworkDesign((), Absent(), 1.0, intercept=False, parameters=5)
    theta = np.arange(5.0)
    assert (design.width, design.outputs) == (5, 1)
    assert np.array_equal(design.user_coefficients(theta), theta)
    assert np.array_equal(design.shift(), np.zeros(5))

"""New rows that a fit has not seen the like of are predicted as documented, and counted in a warning."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table


def test_cells_beyond_bounds_and_of_no_level_are_counted() -> None:
    table, schema = pd.DataFrame(clinic_table(3000)), tacit.Schema.parse(CLINIC_SCHEMA)
    fit = tacit.glm("readmit ~ age + C(ward)", table, schema, epsilon=np.inf)
    rows = pd.DataFrame({"age": [50.0, 1000.0], "ward": ["West", "surgery"]})
    for act in (fit.predict, fit.get_prediction):
        with pytest.warns(UserWarning, match=r"1 beyond the declared bounds of age.*1 with no declared level of ward"):
            act(rows)
    assert np.isnan(fit.get_prediction(rows).summary_frame()["mean"][0])

"""An estimator's fit as the file that `glm` writes, so that summaries, tests and predictions are had from it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from tacit.certificate.fit_file import StoredFit
from tacit.design.response import Binary, Classes
from tacit.errors import SettingError
from tacit.estimators.loss_choice import loss_of

if TYPE_CHECKING:
    from tacit.estimators.base import Model


def stored_fit_of(model: Model) -> StoredFit:
    """The file of a fitted estimator; refused for a loss that is of no family of `glm`."""
    from tacit.estimators.fit import Fit

    check_is_fitted(model)
    release = model.release_
    response, loss = release.plan.design.response, release.plan.loss
    family = getattr(model, "family", None)
    if isinstance(response, Binary | Classes):
        family = "binomial" if isinstance(response, Binary) else "multinomial"
    if family is None or loss_of(family, response).code is not loss.code:
        kept = "Keep coef_, intercept_ and certificate_.to_json() instead"
        raise SettingError(f"A file holds fits of the families of glm, and the {loss.name} loss is of none. {kept}.")
    return Fit.of(release, family).stored

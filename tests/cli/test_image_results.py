"""What `tacit images` writes of a fit: one curve and one document for every model."""

from pathlib import Path

import numpy as np

from tacit.audit.image_fits import small_recipe
from tacit.cli.image_results import AccuracyCurve, ImageFit
from tacit.cli.output import Screen
from tacit.estimators.images import ImageClassifier

RNG = np.random.default_rng(1)


def test_a_curve_says_what_was_spent_after_each_step() -> None:
    plan = ImageClassifier(epsilon=2.0, delta=1e-5, recipe=small_recipe()).plan(100)
    curve = AccuracyCurve(plan, Screen(as_json=True))
    for done in (1, 5, curve.steps, curve.steps + 9):
        curve.line(done, 0.5)
    spent = [point["epsilon"] for point in curve.points]
    assert spent == sorted(spent)
    # Means and moments are paid for before the first step.
    assert 0 < spent[0] < spent[1]
    assert spent[2] == spent[3] == plan.guarantee().epsilon


def test_a_document_and_files_say_the_same(tmp_path: Path) -> None:
    images, labels = RNG.integers(0, 256, (60, 12, 12)).astype(np.uint8), RNG.integers(0, 3, 60)
    fitted = ImageClassifier(epsilon=2.0, delta=1e-5, recipe=small_recipe()).fit(images, labels)
    points = [{"step": 1, "epsilon": 1.0, "accuracy": 0.3}, {"step": 2, "epsilon": 2.0, "accuracy": 0.4}]
    fit = ImageFit("mnist", "linear", 0.4, 60, 1.234, fitted.release_.theta.size, points, fitted.certificate_)
    document = fit.document(Screen(as_json=True))
    assert (document["data"], document["model"], document["seconds"]) == ("mnist", "linear", 1.23)
    assert document["certificate"] == fitted.certificate_.document
    fit.write({})
    assert not list(tmp_path.iterdir())
    fit.write({"certificate": tmp_path / "certificate.json", "steps": tmp_path / "steps.png"})
    assert (tmp_path / "certificate.json").read_text(encoding="utf-8") == fitted.certificate_.to_json() + "\n"
    assert (tmp_path / "steps.png").stat().st_size > 1000

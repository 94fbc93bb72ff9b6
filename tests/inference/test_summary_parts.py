"""Parts of a summary: header, ratios, notes; also of a fit read from a file."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.response import Absent
from tacit.errors import SettingError
from tacit.inference.results import Results
from tacit.inference.summary import Header, ratio_name


def test_the_header_says_what_was_done(make_release: Any) -> None:
    release = make_release()
    facts = Header.of(release)
    assert (facts.model, facts.response, facts.method) == ("binomial, logit link", "y", "one-step")
    assert (facts.records, facts.records_at_least) == (release.plan.records, False)
    assert facts.passes == release.plan.queries
    assert facts.guarantee == release.plan.guarantee()
    assert facts.not_private is None
    assert Header.of(make_release(relation="add-remove")).records_at_least


def test_what_is_not_private_is_said_so(make_release: Any, twins: Any) -> None:
    seeded = Header.of(replace(make_release(), reproducible=True))
    assert seeded.not_private == "the noise came from a fixed seed"
    free = Header.of(twins.ours.release_)
    assert (free.not_private, free.passes) == ("no noise was added", None)


@pytest.mark.parametrize(("model", "name"), [("binomial", "odds ratio"), ("poisson", "rate ratio")])
def test_ratios(make_release: Any, model: str, name: str) -> None:
    results = Results(make_release(model=model))
    plain, ratio = results.summary(0.9), results.summary(0.9, exponentiate=True)
    assert (plain.estimate, ratio.estimate) == ("coef", name)
    for line, other in zip(plain.lines, ratio.lines, strict=True):
        assert line.lower is not None
        assert line.std_err is not None
        assert other.coef == pytest.approx(np.exp(line.coef))
        assert other.lower == pytest.approx(np.exp(line.lower))
        assert other.std_err == pytest.approx(np.exp(line.coef) * line.std_err)
        assert (other.statistic, other.pvalue) == (line.statistic, line.pvalue)


def test_ratios_of_other_models_are_refused(make_release: Any) -> None:
    with pytest.raises(SettingError, match="odds ratios"):
        Results(make_release(model="gaussian")).summary(exponentiate=True)
    with pytest.raises(SettingError, match="odds ratios"):
        ratio_name(Absent())


def test_notes_say_why(make_release: Any) -> None:
    assert Results(make_release()).summary().notes == ()
    (note,) = Results(make_release(signal=60.0)).summary().notes
    assert note == "Conservative (Intercept, x0, x1, x2): n·μ/d is 60, below 100."


def stepped(release: Any, altered: Any) -> Any:
    """The release of one step in which no direction hides."""
    return altered(release, step=np.full(4, 0.01), visible=0.05)


@pytest.mark.parametrize(("model", "words"), [("gaussian", "least squares"), ("poisson", "the mean count")])
def test_notes_name_the_plain_target(make_release: Any, altered: Any, model: str, words: str) -> None:
    (note,) = Results(stepped(make_release(model=model), altered)).summary().notes
    assert note.startswith(f"Target: {words}")
    assert "Huber" not in note
    assert Results(stepped(make_release(), altered)).summary().notes == ()


@pytest.mark.parametrize("rows", [1, 3])
def test_notes_name_the_estimand_of_units_with_several_rows(make_release: Any, altered: Any, rows: int) -> None:
    release = make_release()
    attached = AttachedColumns(unit=Unit("patient_nbr", rows))
    design = replace(release.plan.design, attached=attached)
    release = replace(release, plan=replace(release.plan, design=design, unit="patient"))
    for each in (release, stepped(release, altered)):
        notes = Results(each).summary().notes
        assert len(notes) == (rows > 1)
        assert all("Every patient counts once" in note for note in notes)


def test_without_noise_every_unit_counts_once_too(twins: Any) -> None:
    release = twins.ours.release_
    attached = AttachedColumns(unit=Unit("patient_nbr", 3))
    design = replace(release.plan.design, attached=attached)
    release = replace(release, plan=replace(release.plan, design=design))
    assert any("counts once" in note for note in Results(release).summary().notes)

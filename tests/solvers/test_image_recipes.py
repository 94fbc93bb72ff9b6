"""Recipes are data: groups as many as features, sensible constants, and a certificate that names their study."""

import pytest

from tacit.errors import SettingError
from tacit.solvers.image_recipes import RECIPES, STUDY, ImageRecipe, find_recipe


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=str)
def test_constants_fit_the_features(recipe: ImageRecipe) -> None:
    shapes = recipe.features.shapes(recipe.pixels, recipe.colours)
    assert len(shapes) == len(recipe.groups)
    assert all(0 < group.kept <= channels for group, (channels, _) in zip(recipe.groups, shapes, strict=True))
    assert sum(group.sum_share + group.moment_share for group in recipe.groups) < 0.1
    assert recipe.shape == ((28, 28) if recipe.colours == 1 else (32, 32, 3))
    assert "public" in STUDY


def test_steps_grow_with_the_budget_within_ends() -> None:
    recipe = RECIPES["cifar10"]
    steps = [recipe.steps(mu) for mu in (0.001, 0.27, 0.72, 1.58, 100.0)]
    assert steps == sorted(steps)
    assert steps[0] == 20
    assert steps[-1] == 200


def test_recipes_are_found_by_name() -> None:
    assert find_recipe("mnist") is RECIPES["mnist"]
    assert find_recipe(RECIPES["fashion"]) is RECIPES["fashion"]
    for wrong in ("imagenet", 3):
        with pytest.raises(SettingError, match="recipe"):
            find_recipe(wrong)  # type: ignore[arg-type]

"""What analysts call: scikit-learn estimators and `glm()`."""

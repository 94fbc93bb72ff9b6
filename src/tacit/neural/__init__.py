"""Networks under differential privacy: torch modules whose examples keep to themselves. Needs `tacit[neural]`."""

from tacit.errors import SettingError

try:
    import torch as _torch
except ModuleNotFoundError as error:
    raise SettingError("tacit.neural needs torch: pip install 'tacit[neural]'") from error

from tacit.neural.activations import TemperedSigmoid as TemperedSigmoid
from tacit.neural.activations import activation as activation
from tacit.neural.architectures import cnn as cnn
from tacit.neural.architectures import mlp as mlp
from tacit.neural.estimators import DPClassifier as DPClassifier
from tacit.neural.estimators import DPRegressor as DPRegressor
from tacit.neural.scattering_classifier import ScatteringClassifier as ScatteringClassifier
from tacit.neural.trainer import DPTrainer as DPTrainer

del _torch

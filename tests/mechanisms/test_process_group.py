"""Two processes train one network: the same weights in both, noise once, and the price of all records."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.mechanisms.process_group import is_joined
from tacit.neural import DPTrainer, mlp

WORKER = """
import json, sys, warnings
import numpy as np, torch
from torch.nn.parallel import DistributedDataParallel
from tacit.contract.query import Answer
from tacit.mechanisms.process_group import answered_together
from tacit.neural import DPTrainer, mlp
warnings.simplefilter("ignore")
torch.set_num_threads(1)
rank = int(sys.argv[1])
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
rng = np.random.default_rng(rank)
X = rng.uniform(-1, 1, (300 + 100 * rank, 3)).astype(np.float32)
y = (X[:, 0] > 0).astype(np.int64)
module = DistributedDataParallel(mlp(3, 2, (8,)))
settings = dict(epsilon=20.0, delta=1e-5, batch_size=200, steps=30, step_size=1.0, random_state=1)
model = DPTrainer(module=module, **settings).fit(X, y)
drawn = []
def noised(total):
    drawn.append(total.tolist())
    return Answer(total / 2.0, 0.5)
answer = answered_together(np.array([rank + 1, 10]), noised)
print(json.dumps({
    "theta": model.release_.theta.tolist(),
    "records": model.plan_.records,
    "slots": model.plan_.solver.slots,
    "epsilon": model.plan_.guarantee().epsilon,
    "accuracy": float((model.predict(X).argmax(1) == y).mean()),
    "drawn": drawn,
    "answer": [answer.value.tolist(), answer.noise_scale],
}))
"""


def test_two_processes_train_one_network(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER]
    workers = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "meet")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for rank in (0, 1)
    ]
    found: list[dict[str, Any]] = []
    for worker in workers:
        out, err = worker.communicate(timeout=280)
        assert worker.returncode == 0, err
        found.append(json.loads(out.splitlines()[-1]))
    first, second = found
    assert first["theta"] == second["theta"]
    assert first["records"] == second["records"] == 700
    assert first["slots"] < second["slots"]
    assert 19.9 < first["epsilon"] <= 20.0
    assert min(first["accuracy"], second["accuracy"]) > 0.9
    # The exact sum of both is noised by the first alone.
    assert (first["drawn"], second["drawn"]) == ([[3, 20]], [])
    assert first["answer"] == second["answer"] == [[1.5, 10.0], 0.5]


def test_without_a_group_there_is_one_process() -> None:
    assert not is_joined()
    model = DPTrainer(module=mlp(3, 2), epsilon=1.0, delta=1e-5, steps=2, batch_size=10)
    model.together = True
    with pytest.raises(SettingError, match="process group"):
        model.fit(np.zeros((50, 3), np.float32), np.zeros(50, int))

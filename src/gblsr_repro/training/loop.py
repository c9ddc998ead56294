"""The training loop of both benchmarks: optimizer steps, logs, saved states, stop signals."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from .. import runtime
from ..errors import StopRequested, UserError
from ..models.base import Model
from ..progress import Progress, log
from . import checkpoint

LOG_COLUMNS = ("step", "loss", "gradient_norm", "bandwidth", "steps_per_second")

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Training(Generic[Batch]):
    """A model to train and how: all that its weights depend on but the code and the versions.

    `batch(step)` and `schedule(step)` (the learning rate; None: constant) take the step counted
    from 0 and must depend on it alone: then a resumed run repeats an uninterrupted one exactly on
    the CPU. `loss(batch)` is a mean over the batch; `split` cuts a batch into equal parts whose
    gradients add up to the batch's, which bounds memory and changes the result by rounding only.
    `gradient_clip` bounds the norm of all gradients together. `settings` are the sections of the
    config that the metadata of the run repeats, training among them; `data` describes the training
    images, with their checksum (train); `facts` are further entries of the metadata.
    """

    model: Model
    optimizer: torch.optim.Optimizer
    batch: Callable[[int], Batch]
    loss: Callable[[Batch], Tensor]
    settings: Mapping[str, Any]
    data: Mapping[str, Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    split: Callable[[Batch], Sequence[Batch]] = lambda batch: [batch]
    schedule: Callable[[int], float] | None = None
    gradient_clip: float = math.inf


@dataclass
class TrainingLog:
    """The log and the cost of a run.

    `rows` have the columns LOG_COLUMNS: the loss is the mean since the row before, the gradient
    norm (before clipping) and the bandwidth are the last step's. `wall_seconds` counts the time
    in the loop of all processes that worked on the run, `resumed` how often it resumed from a
    state. `trained_by` lists what trained it (see `train`): the first process, then those that
    resumed under something else.
    """

    rows: list[dict[str, float | None]] = field(default_factory=list)
    wall_seconds: float = 0.0
    resumed: int = 0
    peak_memory_mib: float = 0.0
    trained_by: list[dict[str, Any]] = field(default_factory=list)


def train(
    label: str,
    training: Training[Any],
    state_path: Path,
    identity: dict[str, Any],
    trained_by: dict[str, Any],
    after_step: Callable[[int], None] | None = None,
    keep_state: bool = False,
) -> TrainingLog:
    """Train a model in place, resuming from the state at `state_path` if it exists.

    `identity` lists what the weights depend on: a state with the same identity is resumed, any
    other is moved aside (see `checkpoint.load_state`). `trained_by` describes the code, versions
    and device of this process (with the commit as git), which is recorded with the weights.
    `after_step(count)` is called after every step with the number of completed steps. The caller
    removes the state once the weights are stored; with `keep_state` the state of the last step is
    saved too, and a repeated call returns its weights without a step of training.

    Raises `UserError` when loss or gradient is not finite or another process trains the same run,
    and `StopRequested` on SIGTERM or SIGUSR1, after the current step, with the state saved.
    """
    model, settings = training.model, training.settings["training"]
    run = _Run(label, training, state_path, identity)
    with checkpoint.lock_state(state_path, label):
        run.resume(trained_by)
        model.train()
        progress = Progress(label, run.steps, start=run.step)
        with checkpoint.StopOnSignal() as stop, progress:
            while run.step < run.steps:
                run.take_step()
                if after_step is not None:
                    after_step(run.step)
                finished = run.step == run.steps
                if finished or run.step % settings["log_every"] == 0:
                    progress.values = run.log_row(model.get_bandwidth())
                progress.update()
                signal = stop.name
                due = signal or run.step % settings["checkpoint_every"] == 0
                if keep_state if finished else due:
                    run.save()
                if signal and not finished:
                    raise StopRequested(
                        f"{label} was stopped by {signal} after step {run.step} of {run.steps}; "
                        "its state is saved: run the same command again to resume from it."
                    )
        return run.finish()


class _Run:
    """The state of a running training: what is saved, and what is not logged yet."""

    def __init__(
        self, label: str, training: Training[Any], path: Path, identity: dict[str, Any]
    ) -> None:
        self.label, self.training, self.path, self.identity = label, training, path, identity
        self.steps: int = training.settings["training"]["steps"]
        self.parameters = [p for p in training.model.parameters() if p.requires_grad]
        self.device = self.parameters[0].device
        self.step = 0
        self.training_log = TrainingLog()
        # Values since the last log row; tensors until checked, so that CUDA is not waited for.
        self.losses: list[float] = []
        self.norm = 0.0
        self.unchecked: list[tuple[Tensor, Tensor]] = []

    def resume(self, trained_by: dict[str, Any]) -> None:
        """Load the saved state, if there is one, and note what trains the remaining steps."""
        state = checkpoint.load_state(self.path, self.identity)
        if state is not None:
            self.training.model.load_state_dict(state["model"])
            self.training.optimizer.load_state_dict(state["optimizer"])
            checkpoint.restore_random_state(state["random"])
            self.step, self.losses = state["step"], state["losses"]
            names = [each.name for each in fields(TrainingLog)]
            self.training_log = TrainingLog(**{name: state[name] for name in names})
            self.training_log.resumed += self.step < self.steps
            if self.step == self.steps:
                log.info(
                    "%s: trained before with the same settings, images and code; its weights are "
                    "read from %s", self.label, self.path,
                )  # fmt: skip
        if self.step < self.steps and trained_by not in self.training_log.trained_by:
            self.training_log.trained_by.append(trained_by)
        self.started = self.logged_at = time.monotonic()
        self.logged_step = self.step

    def take_step(self) -> None:
        """Take one optimizer step and keep its loss and its gradient norm before clipping.

        On the CPU, where reading costs nothing, they are checked at once.
        """
        training, optimizer = self.training, self.training.optimizer
        if training.schedule is not None:
            for group in optimizer.param_groups:
                group["lr"] = training.schedule(self.step)
        parts = training.split(training.batch(self.step))
        optimizer.zero_grad(set_to_none=True)
        loss = torch.zeros((), device=self.device)
        for part in parts:
            share = training.loss(part) / len(parts)
            share.backward()
            loss = loss + share.detach()
        norm = nn.utils.clip_grad_norm_(self.parameters, training.gradient_clip)
        optimizer.step()
        self.step += 1
        self.unchecked.append((loss, norm.detach()))
        if self.device.type == "cpu":
            self.check_values()

    def check_values(self) -> None:
        """Read the values of the last steps; raise `UserError` if one is not finite."""
        if not self.unchecked:
            return
        values = torch.stack([torch.stack(pair).float() for pair in self.unchecked]).cpu().tolist()
        first = self.step - len(values) + 1
        self.unchecked = []
        for step, (loss, norm) in enumerate(values, first):
            if not (math.isfinite(loss) and math.isfinite(norm)):
                name = "loss" if not math.isfinite(loss) else "gradient"
                raise UserError(
                    f"{self.label}: the {name} is not finite at step {step}; run again to resume "
                    "from the last saved state, and if that does not help, look for damaged "
                    "training images or lower the learning rate, which starts the run anew."
                )
            self.losses.append(loss)
            self.norm = norm

    def log_row(self, bandwidth: float | None) -> dict[str, float]:
        """Append a log row; return its loss and, if there is one, its bandwidth."""
        self.check_values()
        now = time.monotonic()
        row = {
            "step": self.step,
            "loss": sum(self.losses) / len(self.losses),
            "gradient_norm": self.norm,
            "bandwidth": bandwidth,
            "steps_per_second": (self.step - self.logged_step) / (now - self.logged_at),
        }
        self.training_log.rows.append(row)
        self.losses, self.logged_at, self.logged_step = [], now, self.step
        return {k: v for k in ("loss", "bandwidth") if (v := row[k]) is not None}

    def save(self) -> None:
        """Save the state after checking the values of the last steps."""
        self.check_values()
        checkpoint.save_state(
            self.path,
            {
                "identity": self.identity,
                "step": self.step,
                "model": self.training.model.state_dict(),
                "optimizer": self.training.optimizer.state_dict(),
                "random": checkpoint.get_random_state(),
                "losses": self.losses,
                **vars(self.training_log),
                "wall_seconds": self.count_wall_seconds(),
                "peak_memory_mib": self.measure_peak_memory(),
            },
        )

    def count_wall_seconds(self) -> float:
        """Count the seconds spent on the run by all its processes."""
        return self.training_log.wall_seconds + time.monotonic() - self.started

    def measure_peak_memory(self) -> float:
        """Measure the highest peak, in MiB, of all processes that worked on the run."""
        return max(self.training_log.peak_memory_mib, runtime.measure_peak_memory_mib(self.device))

    def finish(self) -> TrainingLog:
        """Return the log of the whole run, with its cost."""
        runtime.synchronize(self.device)
        self.training_log.wall_seconds = self.count_wall_seconds()
        self.training_log.peak_memory_mib = self.measure_peak_memory()
        return self.training_log

"""One training loop for every recipe: steps, logs, states, and stopping well."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from .. import runtime
from ..errors import StopRequested, UserError
from ..files import write_json
from ..progress import Progress, log
from . import checkpoint

NOTE_SECONDS = 15.0  # between two notes of how far a run is
LOG_COLUMNS = ("step", "loss", "gradient_norm", "bandwidth", "steps_per_second")

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class LoopSettings:
    """How long and how often, in steps."""

    steps: int
    log_every: int
    checkpoint_every: int


@dataclass
class TrainingLog:
    """What a run leaves behind besides its weights.

    `rows` have the columns LOG_COLUMNS: the loss is the mean since the row before, the gradient
    norm (before clipping) and the bandwidth are the last step's. `wall_seconds` counts the time
    in the loop of all processes that worked on the run, `resumed` how often it went on from a
    state. `trained_by` says by what it was trained (see `train`): that of its first process, then
    what was another of those that went on.
    """

    rows: list[dict[str, float | None]] = field(default_factory=list)
    wall_seconds: float = 0.0
    resumed: int = 0
    peak_memory_mib: float = 0.0
    trained_by: list[dict[str, Any]] = field(default_factory=list)


def train(
    label: str,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    settings: LoopSettings,
    batch: Callable[[int], Batch],
    loss: Callable[[Batch], Tensor],
    state_path: Path,
    identity: Mapping[str, Any],
    trained_by: Mapping[str, Any],
    split: Callable[[Batch], Sequence[Batch]] = lambda batch: [batch],
    schedule: Callable[[int], float] | None = None,
    bandwidth: Callable[[], float | None] = lambda: None,
    after_step: Callable[[int], None] | None = None,
    keep_state: bool = False,
    gradient_clip: float = math.inf,
) -> TrainingLog:
    """Train `model` in place, going on from the state at `state_path` where there is one.

    `batch(step)` and `schedule(step)` (the learning rate; None: constant) take the step counted
    from 0 and must follow from it alone: then a resumed run repeats an uninterrupted one exactly
    on the CPU. `loss(batch)` is a mean over the batch; `split` cuts a batch into equal parts whose
    gradients add up to the batch's, which bounds memory and changes the result by rounding only.
    `gradient_clip` bounds the norm of all gradients together.
    `identity` says what the weights follow from: a state is gone on from where that is the same,
    and moved aside where it is not (see `checkpoint.load_state`). `trained_by` says by what this
    process trains (git: the commit; and what else is recorded), which stays with the weights.
    `after_step(done)` is called after every step with the number of steps done. The caller removes
    the state once the weights are stored; with `keep_state` the state of the last step is saved
    too, and a run that is asked for again gives its weights without a step of training.

    Raises `UserError` when loss or gradient is not finite, and `StopRequested` on SIGTERM or
    SIGUSR1, after the running step, with the state saved; `UserError` also when another process
    trains the same run.
    """
    device = next(model.parameters()).device
    parameters = [p for p in model.parameters() if p.requires_grad]
    run = _Training(
        label, model, optimizer, Path(state_path), dict(identity), settings.steps, device
    )
    with checkpoint.lock_state(run.path, label):
        run.resume(dict(trained_by))
        model.train()
        progress = Progress(label, settings.steps, start=run.step)
        with checkpoint.StopOnSignal() as stop, progress, run.noting(progress):
            while run.step < settings.steps:
                if schedule is not None:
                    for group in optimizer.param_groups:
                        group["lr"] = schedule(run.step)
                optimizer.zero_grad(set_to_none=True)
                parts = split(batch(run.step))
                value = torch.zeros((), device=device)
                for part in parts:
                    share = loss(part) / len(parts)
                    share.backward()
                    value = value + share.detach()
                norm = nn.utils.clip_grad_norm_(parameters, gradient_clip)
                optimizer.step()
                run.note(value, norm.detach())
                if after_step is not None:
                    after_step(run.step)
                last = run.step == settings.steps
                if last or run.step % settings.log_every == 0:
                    row = run.log(bandwidth())
                    progress.update(
                        0, **{k: v for k in ("loss", "bandwidth") if (v := row[k]) is not None}
                    )
                progress.update()
                run.tell_progress()
                due = stop.name or run.step % settings.checkpoint_every == 0
                if keep_state if last else due:
                    run.save()
                if not last and stop.name:
                    raise StopRequested(
                        f"{label} was stopped by {stop.name} after step {run.step} of "
                        f"{settings.steps}; its state is saved, and the same command goes on from "
                        "it."
                    )
        return run.finish()


class _Training:
    """The moving parts of `train`: what is saved, and what is still to be logged."""

    def __init__(
        self,
        label: str,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        path: Path,
        identity: dict[str, Any],
        steps: int,
        device: torch.device,
    ) -> None:
        self.label, self.model, self.optimizer, self.path = label, model, optimizer, path
        self.identity, self.steps, self.device = identity, steps, device
        self.step = 0
        self.record = TrainingLog()
        # Values since the last log row; tensors until read, so that CUDA is not waited for.
        self.losses: list[float] = []
        self.norm = 0.0
        self.unread: list[tuple[Tensor, Tensor]] = []
        self.started = self.told = self.noted = time.monotonic()
        self.told_step = self.saved = 0

    def resume(self, trained_by: dict[str, Any]) -> None:
        """Take up the saved state, if there is one, and note who trains what is left."""
        state = checkpoint.load_state(self.path, self.identity)
        if state is not None:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            checkpoint.restore_random_state(state["random"])
            self.step, self.losses = state["step"], state["losses"]
            self.saved = self.step
            names = ("rows", "wall_seconds", "resumed", "peak_memory_mib", "trained_by")
            self.record = TrainingLog(**{name: state[name] for name in names})
            self.record.resumed += self.step < self.steps
            if self.step == self.steps:
                log.info(
                    "%s: trained before with the same settings, images and code; its weights are "
                    "taken from %s", self.label, self.path,
                )  # fmt: skip
        if self.step < self.steps and trained_by not in self.record.trained_by:
            self.record.trained_by.append(trained_by)
        self.started = self.told = time.monotonic()
        self.told_step = self.step

    @contextmanager
    def noting(self, progress: Progress) -> Iterator[None]:
        """Write from time to time, and at the end, how far the run is (see `tell_progress`)."""
        self.progress = progress
        self.tell_progress(at_once=True)
        try:
            yield
        finally:
            self.tell_progress(at_once=True, running=False)

    def tell_progress(self, at_once: bool = False, running: bool = True) -> None:
        """Write how far the run is into a small file beside the state, for `gblsr-repro progress`.

        Keys: run, step and saved (the last step with a state) of steps, steps_per_second (None
        before the first), running. At most every `NOTE_SECONDS` unless `at_once`.
        """
        now = time.monotonic()
        if not at_once and now - self.noted < NOTE_SECONDS:
            return
        self.noted = now
        facts = {"run": self.label, "step": self.step, "saved": self.saved,
                 "steps": self.progress.total, "steps_per_second": self.progress.rate() or None,
                 "running": running}  # fmt: skip
        try:
            write_json(checkpoint.get_progress_path(self.path), facts)
        except UserError as error:  # a full disk: the next state says so, where it matters
            log.warning("%s: its progress is not told: %s", self.label, error)

    def note(self, loss: Tensor, norm: Tensor) -> None:
        """Count a step; on the CPU, where reading is free, check its values at once."""
        self.step += 1
        self.unread.append((loss, norm))
        if self.device.type == "cpu":
            self.read()

    def read(self) -> None:
        """Read the values of the last steps and raise `UserError` at one that is not finite."""
        if not self.unread:
            return
        values = torch.stack([torch.stack(pair).float() for pair in self.unread]).cpu().tolist()
        first = self.step - len(values) + 1
        self.unread = []
        for step, (loss, norm) in enumerate(values, first):
            if not (math.isfinite(loss) and math.isfinite(norm)):
                what = "loss" if not math.isfinite(loss) else "gradient"
                raise UserError(
                    f"{self.label}: the {what} is not finite at step {step}; run again, which goes "
                    "on from the last saved state, and where that does not help look for damaged "
                    "training images or lower the learning rate, which starts the run anew."
                )
            self.losses.append(loss)
            self.norm = norm

    def log(self, bandwidth: float | None) -> dict[str, float | None]:
        """Append and return a log row."""
        self.read()
        now = time.monotonic()
        row = {
            "step": self.step,
            "loss": sum(self.losses) / len(self.losses),
            "gradient_norm": self.norm,
            "bandwidth": bandwidth,
            "steps_per_second": (self.step - self.told_step) / (now - self.told),
        }
        self.record.rows.append(row)
        self.losses, self.told, self.told_step = [], now, self.step
        return row

    def save(self) -> None:
        """Save the state; values not yet checked are checked first."""
        self.read()
        checkpoint.save_state(
            self.path,
            {
                "identity": self.identity,
                "step": self.step,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "random": checkpoint.get_random_state(),
                "losses": self.losses,
                "rows": self.record.rows,
                "wall_seconds": self.wall_seconds(),
                "resumed": self.record.resumed,
                "peak_memory_mib": self.peak_memory_mib(),
                "trained_by": self.record.trained_by,
            },
        )
        self.saved = self.step

    def wall_seconds(self) -> float:
        """Return the seconds spent on the run, all its processes together."""
        return self.record.wall_seconds + time.monotonic() - self.started

    def peak_memory_mib(self) -> float:
        """Return the highest peak of all processes that worked on the run."""
        return max(self.record.peak_memory_mib, runtime.peak_memory_mib(self.device))

    def finish(self) -> TrainingLog:
        """Return the record of the whole run."""
        self.read()
        runtime.synchronize(self.device)
        self.record.wall_seconds = self.wall_seconds()
        self.record.peak_memory_mib = self.peak_memory_mib()
        return self.record

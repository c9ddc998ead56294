"""SIGKILL of training at random moments: nothing is lost but the steps since the last state."""

import time

from faulty import outcome, unfinished

from gblsr_repro.training.runs import train_arm

KILLS = 4


def test_killed_at_random_moments(processes, job, undisturbed, repeats, chance, tmp_path):
    """Every kill is followed by the same command, as a user's or a scheduler's retry would be."""
    seconds = []
    for name in ("first", "timed"):  # the first also waits for the imports
        started = time.monotonic()
        process = processes.Process(target=train_arm, args=job(tmp_path / name))
        process.start()
        process.join(60)
        assert process.exitcode == 0
        seconds.append(time.monotonic() - started)

    for number in range(repeats):
        folder = tmp_path / str(number)
        for _ in range(KILLS):
            process = processes.Process(target=train_arm, args=job(folder))
            process.start()
            process.join(chance.uniform(0, seconds[1]))
            process.kill()
            process.join(60)
        train_arm(*job(folder))
        assert outcome(folder / "run") == outcome(undisturbed)
        assert unfinished(folder) == []
        assert list((folder / "state").glob("*.pt")) == []

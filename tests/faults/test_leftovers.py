"""Temporary files of killed writers are removed; those of living ones are not touched."""

import os
import time
from pathlib import Path

import pytest
from faulty import unfinished

from gblsr_repro import files

WRITERS = 3
SIZE = 100_000


def write_slowly(path: Path, started: Path) -> None:
    with files.write_atomically(path) as temporary:
        temporary.write_text("half")
        started.touch()
        time.sleep(60)


def write_for_ever(path: Path, letter: str) -> None:
    while True:
        files.write_text(path, letter * SIZE)


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.001)


@pytest.fixture
def writer(processes, tmp_path):
    """A process that is in the middle of writing tmp_path/target."""
    process = processes.Process(
        target=write_slowly, args=(tmp_path / "target", tmp_path / "started")
    )
    process.start()
    wait_for(tmp_path / "started")
    yield process
    process.kill()
    process.join()


def test_what_a_killed_writer_left_goes_with_the_next_write(writer, tmp_path):
    writer.kill()
    writer.join()
    assert len(unfinished(tmp_path)) == 1
    files.write_text(tmp_path / "other", "text")
    assert len(unfinished(tmp_path)) == 1
    files.write_text(tmp_path / "target", "text")
    assert unfinished(tmp_path) == []


def test_many_writers_of_one_file_killed_at_random(processes, repeats, chance, tmp_path):
    """Whoever is killed whenever, the file is some writer's whole text at all times."""
    target = tmp_path / "target"
    files.write_text(target, "0" * SIZE)
    crowd = {}
    for number in range(6 * repeats):
        for place in range(WRITERS):
            if place not in crowd:
                letter = chr(ord("a") + place)
                crowd[place] = processes.Process(target=write_for_ever, args=(target, letter))
                crowd[place].start()
        time.sleep(chance.uniform(0, 0.1))
        text = target.read_text()
        assert text == text[0] * SIZE, f"after {number} kills"
        killed = crowd.pop(chance.randrange(WRITERS))
        killed.kill()
        killed.join()
    for process in crowd.values():
        assert process.is_alive()  # none met a file that another had swept away
        process.kill()
        process.join()
    files.write_text(target, "end")
    assert os.listdir(tmp_path) == ["target"]

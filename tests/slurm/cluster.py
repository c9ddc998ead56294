"""A real Slurm on this machine alone: munge, slurmctld and slurmd, started by hand as root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
# Jobs look here: the executor plugin passes no SLURM_* variable on, SLURM_CONF included.
SITE = Path("/etc/slurm/slurm.conf")

MARK = "# Written by the tests of gblsr-repro.\n"
CONFIGURATION = """\
ClusterName=testcluster
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
SlurmctldPort={port}
SlurmdPort={slurmd_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
MinJobAge=300
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Sockets=1 CoresPerSocket={cpus} ThreadsPerCore=1 \
RealMemory={memory} Gres=gpu:{cpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Say why Slurm cannot be started here, or None."""
    absent = [name for name in DAEMONS if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    if absent:
        return f"needs {', '.join(absent)} (Debian packages slurm-wlm and munge)"
    if os.geteuid() != 0:
        return "needs root to start the Slurm daemons"
    # What a killed test left is ours to replace; anything else is not.
    if SITE.exists() and not SITE.read_text(errors="replace").startswith(MARK):
        return f"{SITE} exists: this machine has a Slurm of its own"
    return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _start(folder: Path, *command: str, **options: object) -> None:
    with (folder / f"{Path(command[0]).name}.out").open("wb") as out:
        subprocess.run(command, check=True, stdout=out, stderr=subprocess.STDOUT, **options)


@contextmanager
def slurm(folder: Path, cpus: int = 2, memory: int = 12000) -> Iterator[dict[str, str]]:
    """Run Slurm until the block ends; yield the environment in which its commands find it.

    The node claims `cpus` processors, `memory` MB and one pretended GPU a processor (a device
    file that can be opened, which is all that Slurm asks of it).
    """
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    gpus = [folder / f"gpu{index}" for index in range(cpus)]
    for path in gpus:
        os.mknod(path, 0o666 | 0o020000, os.makedev(1, 3))
    host = socket.gethostname().split(".")[0]
    ports = {"port": _free_port(), "slurmd_port": _free_port()}
    values = {"host": host, "folder": folder, "cpus": cpus, "memory": memory, **ports}
    (folder / "slurm.conf").write_text(MARK + CONFIGURATION.format(**values))
    (folder / "gres.conf").write_text(
        "".join(f"NodeName={host} Name=gpu File={path}\n" for path in gpus)
    )
    environment = dict(os.environ)
    installed = [SITE.with_name(name) for name in ("slurm.conf", "gres.conf")]
    SITE.parent.mkdir(exist_ok=True)
    for path in installed:
        path.unlink(missing_ok=True)
        path.symlink_to(folder / path.name)

    # Asked and not looked up: a killed munged leaves its socket behind.
    own_munge = subprocess.run(["munge", "--no-input"], capture_output=True).returncode != 0
    if own_munge:
        Path("/run/munge").mkdir(exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        _start(folder, "/usr/sbin/munged", "--force", user="munge", group="munge")
    try:
        _start(folder, "/usr/sbin/slurmctld", env=environment)
        _start(folder, "/usr/sbin/slurmd", "-N", host, env=environment)
        _wait_until_idle(environment, folder)
        yield environment
    finally:
        pids = [folder / "slurmd.pid", folder / "slurmctld.pid"]
        for path in pids + ([Path("/run/munge/munged.pid")] if own_munge else []):
            _stop(path)
        for path in installed:
            path.unlink()


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    command = ["sinfo", "--noheader", "--format=%t"]
    for _ in range(150):
        shown = subprocess.run(command, env=environment, capture_output=True, text=True)
        if shown.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    raise RuntimeError(f"Slurm did not come up: see {folder}/slurmctld.log and slurmd.log")


def _stop(pid_file: Path) -> None:
    if not pid_file.is_file() or not pid_file.read_text().strip():
        return
    pid = int(pid_file.read_text())
    try:
        os.kill(pid, signal.SIGTERM)
        for _ in range(100):
            os.kill(pid, 0)
            time.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return

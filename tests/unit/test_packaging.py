"""The package names ranges, the lock exact versions, and the conda environment the same.

The oldest Snakemake is the same for pip and for the Snakefile; the version and its date in the
package, the citation and the changelog. The wheel has what the package reads.
"""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gblsr_repro import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [line for group in PROJECT["optional-dependencies"].values() for line in group]


def pins(lines: list[str]) -> dict[str, str]:
    """Exact versions by name; fails on anything that is not one."""
    found = [line.split("==") for line in lines if line.strip() and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in found}


def locked() -> dict[str, str]:
    """Versions of the lock by name; fails where one has no hash, or where it names a host."""
    text = (ROOT / "envs" / "lock.txt").read_text()
    assert "://" not in text
    entries = text.replace("\\\n", " ").strip().splitlines()
    assert all("--hash=sha256:" in entry for entry in entries)
    return pins([entry.partition(";")[0].split()[0] for entry in entries])


LOCK = locked()


@pytest.mark.parametrize("line", PROJECT["dependencies"] + OPTIONAL)
def test_a_range_that_holds_the_pinned_version(line):
    requirement = Requirement(line)
    operators = {clause.operator for clause in requirement.specifier}
    assert operators == {">=", "<"}
    assert LOCK[canonicalize_name(requirement.name)] in requirement.specifier


def test_the_conda_environment_has_the_package_needs_at_the_pinned_versions():
    environment = yaml.safe_load((ROOT / "envs" / "gblsr.yaml").read_text())
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    lines = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["hub"]
    needed = {canonicalize_name(Requirement(line).name) for line in lines}
    assert pins(pip) == {name: LOCK[name] for name in needed}


def test_the_snakefile_asks_for_the_oldest_snakemake_of_the_range():
    (line,) = (line for line in OPTIONAL if Requirement(line).name == "snakemake")
    (oldest,) = (c.version for c in Requirement(line).specifier if c.operator == ">=")
    assert f'min_version("{oldest}")' in (ROOT / "Snakefile").read_text()


def test_the_version_and_its_date_are_those_of_the_newest_release():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    changes = (ROOT / "CHANGELOG.md").read_text()
    version, date = re.search(r"^## (\S+) - (\S+)$", changes, re.MULTILINE).groups()
    assert version == __version__ == citation["version"]
    assert date == str(citation["date-released"])


def test_the_wheel_has_the_mark_of_types_and_the_files_that_the_package_reads(tmp_path):
    pytest.importorskip("setuptools", minversion="77", reason="builds a wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=ignored)
    build = "from setuptools import build_meta; build_meta.build_wheel('.')"
    done = subprocess.run([sys.executable, "-c", build], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    files = (path for path in (tmp_path / "src").rglob("*") if path.is_file())
    wanted = {path.relative_to(tmp_path / "src").as_posix() for path in files}
    assert "gblsr_repro/py.typed" in held
    assert {name for name in wanted if ".egg-info/" not in name} <= held

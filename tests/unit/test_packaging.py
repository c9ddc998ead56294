"""The package names ranges, the constraints exact versions, and the conda environment the same."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [line for group in PROJECT["optional-dependencies"].values() for line in group]


def pins(lines: list[str]) -> dict[str, str]:
    """Exact versions by name; fails on anything that is not one."""
    found = [line.split("==") for line in lines if line.strip() and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in found}


CONSTRAINTS = pins((ROOT / "envs" / "constraints.txt").read_text().splitlines())


@pytest.mark.parametrize("line", PROJECT["dependencies"] + OPTIONAL)
def test_a_range_that_holds_the_pinned_version(line):
    requirement = Requirement(line)
    operators = {clause.operator for clause in requirement.specifier}
    assert operators == {">=", "<"}
    assert CONSTRAINTS[canonicalize_name(requirement.name)] in requirement.specifier


def test_the_conda_environment_has_the_package_needs_at_the_pinned_versions():
    environment = yaml.safe_load((ROOT / "envs" / "gblsr.yaml").read_text())
    (pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    needed = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert pins(pip) == {name: CONSTRAINTS[name] for name in needed}

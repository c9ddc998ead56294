"""A mistake in the config is one sentence before anything runs."""

import pytest
import yaml


@pytest.mark.parametrize(
    ("overlay", "sentence"),
    [
        ({"native": {"training": {"stpes": 3}}}, "unknown setting 'stpes' at native.training; did"),
        ({"native": {"data": {"train": ["nothing_known"]}}}, "nothing_known"),
        ({"mirror": "/nowhere"}, "The mirror folder /nowhere does not exist; correct `mirror` in"),
    ],
)
def test_one_sentence(snakemake, tmp_path, overlay, sentence):
    """All others: tests/unit/test_config.py."""
    path = tmp_path / "overlay.yaml"
    path.write_text(yaml.safe_dump(overlay))
    done = snakemake("--dry-run", "--cores", "1", "native", configfile=str(path))
    assert done.returncode != 0
    assert sentence in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()

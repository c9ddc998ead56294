"""Values that no run can have are refused in one sentence, before anything is made."""

import re
import shlex
from pathlib import Path

import made
import pytest
from pydantic import ValidationError

from gblsr_repro.analysis.claims.stated import Claim
from gblsr_repro.analysis.provenance.settings import Setting
from gblsr_repro.analysis.reader import Aggregates
from gblsr_repro.config import (
    Arm,
    Dataset,
    Item,
    Method,
    load,
    read_arms,
    read_datasets,
    read_items,
    read_table,
    read_yaml,
)
from gblsr_repro.config.schema.types import FOLDER_PATTERN, NAME_PATTERN
from gblsr_repro.errors import UserError
from gblsr_repro.files import read_csv, read_json_map
from gblsr_repro.metadata import read_metadata
from gblsr_repro.reporting.figures import style
from gblsr_repro.reporting.items import build_item
from gblsr_repro.weights import read_weights

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ("../outside", "results is '../outside': must be a folder below"),
        ("src", f"results is 'src', but in the checkout only {ROOT}/results is for results; name"),
    ],
)
def test_results_that_would_lie_among_other_files(results, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")
    path = tmp_path / "overlay.yaml"
    path.write_text(f"results: {results}\n")
    with pytest.raises(UserError, match=re.escape(sentence)):
        load([path])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"native:\n  data: [1, 2\n", "overlay.yaml cannot be read at line 3, column 1"),
        (b"native:\n  x: 1\n  x: 2\n", "line 3, column 3: the key 'x' comes twice"),
        ("a: caf\u00e9\n".encode("latin-1"), "is not UTF-8 text; save it as UTF-8."),
        (b"seeds: [010]\n", r"line 1, column 9: 010 would be 8; write the number without leading"),
        (b"steps: 3:20\n", "line 1, column 8: 3:20 would be 200; write the number without leading"),
        (b"lpips: -1:30.5\n", "line 1, column 8: -1:30.5 would be -90.5; write the number"),
        (b"a: 2026-13-45\n", "month must be in 1..12"),
    ],
)
def test_an_overlay_that_is_not_what_it_seems(content, sentence, tmp_path):
    path = tmp_path / "overlay.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(sentence)):
        read_yaml(path)


def test_an_overlay_in_json_that_is_missing_none_or_ambiguous(tmp_path):
    path = tmp_path / "overlay.json"
    with pytest.raises(UserError, match=r"^Config file .* does not exist; check the name"):
        read_yaml(path)
    path.write_text("{,}")
    with pytest.raises(UserError, match=r"overlay\.json cannot be read: Expecting .*; correct it"):
        read_yaml(path)
    path.write_text('{"native": {"x": 1, "x": 2}}')
    with pytest.raises(UserError, match=r"cannot be read: the key 'x' comes twice; correct it"):
        read_yaml(path)


def edited(row: type, name: str, column: str, value: str) -> str:
    """A table of the project, with another value in a column of its first row."""
    head, first, *rest = (ROOT / "config" / f"{name}.tsv").read_text().split("\n")
    cells = first.split("\t")
    cells[list(row.model_fields).index(column)] = value
    return "\n".join([head, "\t".join(cells), *rest])


@pytest.mark.parametrize("content", [f'{{"a": {"9" * 5000}}}', "[]", "\udc00"])
def test_a_json_that_is_not_what_it_seems(content, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(content, errors="surrogatepass")
    with pytest.raises(UserError, match=r"run\.json is damaged"):
        read_json_map(path)


@pytest.mark.parametrize(
    ("row", "name", "column", "value", "sentence"),
    [
        # keys stand in paths and in command lines
        (Arm, "arms", "arm", "x`id>f`", "must be a name of letters, digits"),
        (Arm, "arms", "arm", "ground_truth", "none of bicubic, nearest, ground_truth may"),
        (Method, "methods", "method", "nearest", "none of bicubic, nearest, ground_truth may"),
        (Arm, "arms", "name", "A {x}", "without { and }, to be printed in the PDF"),
        (Dataset, "datasets", "title", "Фото", "must be of letters from A"),
        (Arm, "arms", "decoder", ".x:Y", "write package.module:Class"),
        (Arm, "arms", "options", "a=1 a=2", "the option 'a' comes twice; remove one"),
        (Dataset, "datasets", "files", "", "is missing"),
        (Item, "items", "scopes", "quality speed", "Input should be 'structure', 'quality'"),
        (Item, "items", "caption", "of {x}", "must be without { and }"),
        (Claim, "paper/claims", "scope", "speed", "Input should be 'structure', 'quality'"),
        (Claim, "paper/claims", "published", "2.8 dB", "is not made of numbers"),
        (Claim, "paper/claims", "published", "{:.3q}", "Unknown format code 'q'"),
        (Claim, "paper/claims", "rule", "equal", "Input should be 'equals', 'tie'"),
        (Claim, "paper/claims", "margin", "", "the rule 'equals' needs a margin"),
        (Claim, "paper/claims", "rows", "kodak", "measures the column 'psnr_gain'"),
        (Setting, "paper/settings", "scopes", "costs", "Input should be 'structure', 'quality'"),
        (Dataset, "datasets", "files", "/photos/*.jpg", "leads out of the data set's folder"),
        (Dataset, "datasets", "files", "a/b.png|../photos/*.jpg", "leads out of"),
        (Dataset, "datasets", "files", "photos/**.jpg", "write ** alone between two /"),
        (Dataset, "datasets", "checksum", "0" * 64, "write sha256:... or md5:..."),
        (Dataset, "datasets", "bytes", "-1", "Input should be greater than or equal to 0"),
    ],
)
def test_a_cell_that_a_table_does_not_allow(row, name, column, value, sentence, tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text(edited(row, name, column, value))
    with pytest.raises(UserError, match=rf"line 2: .*{re.escape(sentence)}.*; correct"):
        read_table(path, row, next(iter(row.model_fields)))


@pytest.mark.parametrize("pattern", [FOLDER_PATTERN, NAME_PATTERN])
def test_what_stands_in_command_lines_means_nothing_to_a_shell(pattern):
    """Folders, columns and keys stand there without quotes."""
    texts = [f"a{chr(code)}b" for code in range(128)]
    allowed = [text for text in texts if re.fullmatch(pattern, text)]
    assert "a_b" in allowed
    assert [shlex.quote(text) for text in allowed] == allowed


def test_a_package_of_photographs_without_a_name():
    cells = read_datasets()["demo_kodak"].model_dump() | {"urls": ""}
    with pytest.raises(ValidationError, match="needs the package's name under urls"):
        Dataset.model_validate(cells)


def test_a_second_control_of_the_ablation():
    """The gaps of the ablation would be to both, of twice as many seeds."""
    with pytest.raises(ValidationError, match="has log, linear or nothing as its diagnostic"):
        made.changed(read_arms()["gblsr_scalar"], arm="mine", group="own")


def test_an_item_whose_maker_does_not_exist():
    item = made.changed(read_items()["winners"], maker="tables.native:build_winer")
    with pytest.raises(UserError, match=r"maker of 'winners' is '.*build_winer'"):
        build_item(item, Aggregates(Path(), load()))


def test_a_table_with_a_byte_order_mark_is_read_and_one_in_latin_1_is_not(tmp_path):
    text = edited(Arm, "arms", "name", "Caf\u00e9")
    path = tmp_path / "arms.tsv"
    path.write_text(text, encoding="utf-8-sig")
    assert "Caf\u00e9" in {arm.name for arm in read_table(path, Arm, "arm").values()}
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match="is no table in UTF-8"):
        read_table(path, Arm, "arm")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[]", "it holds no map"),
        ('{"released": {"license": "MIT"}}', "released.by is missing"),
        ('{"datasets": [{"dataset": "x"}]}', "datasets.0.images is missing"),
    ],
)
def test_a_record_that_is_none(content, sentence, tmp_path):
    (tmp_path / "weights.safetensors").write_bytes(b"")
    path = tmp_path / "run.json"
    path.write_text(content)
    for read in (read_metadata, lambda path: read_weights(path.parent)):
        with pytest.raises(UserError, match=re.escape(sentence)) as caught:
            read(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("5 1.5", "long", "dash.0 is 'long': Input should be a valid number"),
        ("\tX\t", "\tcross\t", "marker is 'cross': write one of matplotlib's markers"),
    ],
)
def test_a_look_that_is_none(before, after, sentence, tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    text = (ROOT / "config" / "looks.tsv").read_text()
    (tmp_path / "config" / "looks.tsv").write_text(text.replace(before, after, 1))
    monkeypatch.setattr(style, "find_repository_root", lambda: tmp_path)
    with pytest.raises(UserError, match=sentence):
        style.read_looks(Aggregates(tmp_path, load()))


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"a,b\n" + b"x" * 200_000])
def test_a_table_that_is_none(content, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"scores\.csv is no table in UTF-8"):
        read_csv(path)

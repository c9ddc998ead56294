"""The digest of code changes with what Python runs, and with nothing else."""

import pytest

from gblsr_repro.dependencies.source_digest import digest_files
from gblsr_repro.errors import UserError

CODE = '''"""A module."""

FACTOR = 2.0  # a comment


class Scale:
    """A class."""

    def __call__(self, value):
        """A function."""
        return [value * FACTOR, -value]
'''
REWRITTEN = """FACTOR = 2.00
'''What it is for.'''
class Scale:

    def __call__(self, value):
        return (  # both
            [value*FACTOR,
             -value,]
        )
"""


@pytest.fixture
def package(tmp_path):
    """A package with a module in a package below it."""
    folder = tmp_path / "one" / "package"
    for name, text in (("__init__.py", ""), ("inner/__init__.py", ""), ("inner/scale.py", CODE)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def digest(folder):
    return digest_files(folder.rglob("*.py"))


def edit(package, old, new):
    module = package / "inner" / "scale.py"
    text = module.read_text()
    assert old in text
    module.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a comment", "another comment, and a longer one"),
        ('"""A module."""', '"""Another module."""'),
        ('    """A class."""\n', ""),
        (CODE, REWRITTEN),
    ],
    ids=["comment", "module", "class", "formatting"],
)
def test_what_python_does_not_run_changes_nothing(package, old, new):
    before = digest(package)
    edit(package, old, new)
    assert digest(package) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2.0", "2.5"),
        ("2.0", "2"),
        ("__call__", "__neg__"),
        ("[value * FACTOR, -value]", "value * FACTOR, -value"),
        ("[value * FACTOR, -value]", "['value * FACTOR, -value']"),
        ("return [", "yield ["),
    ],
)
def test_what_python_runs_changes_it(package, old, new):
    before = digest(package)
    edit(package, old, new)
    assert digest(package) != before


def test_a_slice_from_and_a_slice_to_are_not_the_same(package):
    edit(package, "-value", "value[1:]")
    before = digest(package)
    edit(package, "value[1:]", "value[:1]")
    assert digest(package) != before


def test_a_file_more_or_of_another_name_changes_it_and_where_it_lies_does_not(package, tmp_path):
    before = digest(package)
    (package / "empty.py").touch()
    longer = digest(package)
    (package / "empty.py").unlink()
    module = package / "inner" / "scale.py"
    moved = module.replace(package / "scale.py")
    assert len({before, longer, digest(package)}) == 3
    moved.replace(module)
    (tmp_path / "other").mkdir()
    assert digest(package.rename(tmp_path / "other" / "package")) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"A = 1\ndef f(:\n", r"scale\.py, line 2, is not valid Python"),
        (b"A = '\xff'\n", r"scale\.py.* is not valid Python"),
        (b"A = 1\0\n", r"scale\.py.* is not valid Python"),
    ],
)
def test_what_is_not_python_is_one_sentence(package, content, said):
    (package / "inner" / "scale.py").write_bytes(content)
    with pytest.raises(UserError, match=said) as raised:
        digest(package)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_missing_is_one_sentence(package):
    with pytest.raises(UserError, match=r"gone\.py cannot be read \(No such file"):
        digest_files([package / "gone.py"])

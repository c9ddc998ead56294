"""Nothing that is downloaded or stored can run code: read off the whole source."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in ("src", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if "egg-info" not in str(path)
)
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]

# A call that is only allowed with this keyword argument.
REQUIRED = {
    "torch.load": ("weights_only", True),
    "np.load": ("allow_pickle", False),
    "numpy.load": ("allow_pickle", False),
}
# An image decoder that is only tried where it is one of ours.
DECODERS = {"Image.open": "formats"}
FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load",
    "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "shelve.open",
    "joblib.load", "yaml.load", "yaml.load_all", "yaml.full_load", "yaml.unsafe_load",
    "pd.read_pickle", "pandas.read_pickle", "torch.jit.load", "torch.hub.load",
    "torch.hub.load_state_dict_from_url", "shutil.unpack_archive", "urllib.request.urlopen",
    "urlopen", "requests.get", "requests.post", "tempfile.mktemp",
}  # fmt: skip
FORBIDDEN_METHODS = {"extractall", "unsafe_load", "read_pickle"}
FORBIDDEN_MODULES = {"marshal", "shelve", "dill", "cloudpickle", "joblib", "ftplib", "telnetlib"}


def name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def complaints(source: str) -> list[str]:
    """Say what is not allowed in a module, with the line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names]
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if FORBIDDEN_MODULES & {module.partition(".")[0] for module in modules}:
                found.append(f"line {node.lineno}: import of {modules}")
        if isinstance(node, ast.ClassDef) and any("Unpickler" in name_of(b) for b in node.bases):
            found.append(f"line {node.lineno}: an unpickler of its own")
        if isinstance(node, ast.Call):
            found += [f"line {node.lineno}: {text}" for text in _call(node)]
    return found


def _call(node: ast.Call) -> list[str]:
    name = name_of(node.func)
    given = {word.arg: word.value for word in node.keywords}
    found = []
    method = name.rpartition(".")[2]
    if name in FORBIDDEN or (method != name and method in FORBIDDEN_METHODS):
        found.append(name)
    if name in REQUIRED:
        word, value = REQUIRED[name]
        if not (isinstance(given.get(word), ast.Constant) and given[word].value is value):
            found.append(f"{name} without {word}={value}")
    if name in DECODERS and DECODERS[name] not in given:
        found.append(f"{name} without {DECODERS[name]}")
    if "shell" in given and not (
        isinstance(given["shell"], ast.Constant) and given["shell"].value is False
    ):
        found.append(f"{name} with a shell")
    if name.startswith("subprocess.") and node.args and isinstance(node.args[0], ast.JoinedStr):
        found.append(f"{name} of a text")
    if "verify" in given and isinstance(given["verify"], ast.Constant):
        found.append(f"{name} without TLS verification")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source(path):
    assert complaints(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "pickle.load(stream)",
        "yaml.load(text, Loader=yaml.Loader)",
        "subprocess.run(f'rm {path}', shell=True)",
        "subprocess.run(f'rm {path}')",
        "archive.extractall(folder)",
        "Image.open(path)",
        "session.get(url, verify=False)",
        "import joblib",
        "eval(text)",
        "class Mine(pickle.Unpickler): pass",
    ],
)
def test_the_check_finds(line):
    assert len(complaints(line)) >= 1


def test_what_is_allowed_passes():
    for line in (
        "torch.load(path, map_location='cpu', weights_only=True)",
        "np.load(path, mmap_mode='r', allow_pickle=False)",
        "yaml.safe_load(text)",
        "subprocess.run(['git', 'status'], check=True)",
        "pattern = re.compile('a')",
        "model.eval()",
    ):
        assert complaints(line) == []


def test_the_network_is_reached_from_one_module():
    importing = [path.name for path in FILES if "\nimport requests" in path.read_text()]
    assert importing == ["download.py"]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_hold_no_code_from_elsewhere(path):
    text = path.read_text(encoding="utf-8")
    for word in ("eval(", "exec(", "os.system", "shell(", "yaml.load(", "wrapper:", "http"):
        assert word not in text

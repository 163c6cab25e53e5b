"""The scripts of pages: their own tests, and how they become one page."""

import json
import re
import subprocess
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
from tests.io.pages import NODE, in_node, needs_node
from tests.refusals import refused

from supple.web import pages
from supple.web.bundle import bundle

HERE = Path(__file__).parent
WEB = Path(str(files("supple.web")))
ENTRIES = ["report/player.js", "report/examples.js", "play/play.js"]


def joined(entry, **modules):
    """The bundle of modules a, b, …, given by their text."""
    return bundle(f"{entry}.js", lambda path: modules[path.removesuffix(".js")])


@needs_node
def test_scripts_pass_their_own_tests():
    done = subprocess.run(
        [NODE, "--test", *sorted(map(str, HERE.glob("*.test.js")))],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- the bundler ---------------------------------------------------------------------------------


@needs_node
def test_bundle_runs_modules_in_their_own_scope():
    text = joined(
        "a",
        a='import {\n  twice,\n  Box,\n} from "./b.js";\nimport { one } from "./c.js";\n'
        "const hidden = 5;\nexport const found = [twice(one), new Box().size, hidden];\n",
        b='import { one } from "./c.js";\nconst hidden = 7;\n'
        "export function twice(x) {\n  return 2 * x;\n}\n"
        "export class Box {\n  size = hidden + one;\n}\n",
        c="/** Says\n * what it is. */\nexport const one = 1;\n",
    )
    assert text.index("const c =") < text.index("const b =") < text.index("const a =")
    assert text.count("const one = 1") == 1
    assert "Says" not in text
    assert in_node(f"{text}console.log(JSON.stringify(a.found))") == [2, 8, 5]


@pytest.mark.parametrize(
    "text",
    [
        'import a from "./b.js";', 'import * as a from "./b.js";', 'import "./b.js";',
        'import { one as two } from "./b.js";', 'import { one } from "three";',
        "import { one } from './b.js';", "export default 1;", "export let counter = 0;",
        "export { one };", 'export * from "./b.js";', 'const b = await import("./b.js");',
        "console.log(import.meta.url);", 'const text = "</script>";', 'const text = "<!-- ";',
    ],
)  # fmt: skip
def test_bundle_refuses_what_it_does_not_read(text):
    refused(r"^a\.js: ", joined, "a", a=f"const x = 1;\n{text}\n", b="export const one = 1;\n")


def test_bundle_refuses_circles_and_names_that_are_not_exported():
    one, other = 'import { x } from "./b.js";\n', 'import { y } from "./a.js";\n'
    modules = {"a": f"{one}export const y = 1;\n", "b": f"{other}export const x = 1;\n"}
    refused(r"a\.js imports b\.js imports a\.js: a circle", joined, "a", **modules)
    modules = {"a": 'import { x, y } from "./b.js";\n', "b": "export const x = 1;\n"}
    refused(r"b\.js does not export y; it exports x", joined, "a", **modules)
    refused(r"name modules like a/b\.js", bundle, "a-b.js", lambda path: "")


def test_bundle_keeps_code_beside_documentation():
    code = "const a = /** @type {number} */ (b);\nconst c = 1; /** one */\nconst d = 2;\n"
    assert code in joined("a", a=code)


@needs_node
@pytest.mark.parametrize("entry", ENTRIES)
def test_scripts_of_pages_can_be_read(entry):
    element = pages.script_element(entry)
    text = element.removeprefix('<script type="module">').removesuffix("</script>")
    assert "/**\n" not in text
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    check = [NODE, "--input-type=module", "--check"]
    subprocess.run(check, input=text, text=True, check=True, timeout=60)


def test_shared_modules_are_in_a_page_once():
    for entry in ENTRIES:
        assert pages.script_element(entry).count("function axesOf") == 1
        assert pages.script_element(entry).count("function vertexNormals") == 1


def test_every_module_and_sheet_is_used():
    used = set()

    def read(path):
        used.add(path)
        return (WEB / path).read_text(encoding="utf-8")

    for entry in ENTRIES:
        bundle(entry, read)
    assert used == {path.relative_to(WEB).as_posix() for path in WEB.rglob("*.js")}
    source = "".join(path.read_text(encoding="utf-8") for path in WEB.parent.rglob("*.py"))
    for path in (*WEB.rglob("*.css"), *WEB.rglob("*.html")):
        assert f'"{path.relative_to(WEB).as_posix()}"' in source


# -- pages and packages --------------------------------------------------------------------------


def test_style_sheets_need_no_other_file(monkeypatch):
    monkeypatch.setattr(pages, "_read", lambda path: "body { background: url(a.png) }")
    refused(r"url\(", pages.style_element, "odd.css")


def test_templates_want_every_value_and_take_any():
    filled = pages.fill("report/player.html", stills="$names", names="&")
    assert ">$names<" in filled
    with pytest.raises(KeyError):
        pages.fill("report/player.html", stills="")


def test_data_cannot_end_its_element():
    text = pages.json_text({"name": "</script><b>"})
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><b>"}


def test_wheel_has_the_files_of_pages(tmp_path):
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling, to build")
    root = HERE.parents[1]
    (built,) = wheel.WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(built).namelist())
    kinds = {".js", ".css", ".html"}
    wanted = [path for path in (root / "src/supple/web").rglob("*") if path.suffix in kinds]
    assert len(wanted) > 20
    assert {path.relative_to(root / "src").as_posix() for path in wanted} <= names


def test_lock_file_names_no_registry():
    lock = json.loads((HERE.parents[1] / "package-lock.json").read_text(encoding="utf-8"))
    assert len(lock["packages"]) > 10
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]

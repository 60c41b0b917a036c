"""Documents are true: generated pages are fresh, examples run, links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from testbed.cli.pages import DOCS, pages
from testbed.config.load import load
from testbed.config.planning import plans
from testbed.hunt.hunter import hunt
from testbed.trace.oracle import Verdict

HOME = DOCS.parent
DOCUMENTS = sorted([*HOME.glob("*.md"), *DOCS.glob("*.md")])


@pytest.mark.parametrize("name", pages())
def test_a_generated_page_is_what_would_be_generated_now(name: str) -> None:
    assert pages()[name] == (DOCS / name).read_text(), "run `make docs`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_has_one_title(document: Path) -> None:
    prose = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    assert len(re.findall(r"^# ", prose, flags=re.MULTILINE)) == 1


def test_the_example_of_the_tutorial_is_an_algorithm_that_the_hunter_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = re.search(r"```python\n(.*?)```", (DOCS / "add-an-algorithm.md").read_text(), re.DOTALL)
    assert code is not None
    (tmp_path / "tutorial_example.py").write_text(code[1])
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    result = hunt("tutorial_example:ALGORITHM", schedules=500, seconds=None, seed=1, cores=1)
    assert result.verdict is Verdict.INVALID


def test_the_experiment_of_the_guide_can_be_planned(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (DOCS / "guide.md").read_text(), re.DOTALL)
    assert blocks
    for text in blocks:
        file = tmp_path / f"{yaml.safe_load(text)['name']}.yaml"
        file.write_text(text)
        assert plans(load(file), file)


def test_commands_of_the_documents_exist() -> None:
    from testbed.cli.main import cli

    for document in DOCUMENTS:
        for command in re.findall(r"^ {4}causalbed (\w+)", document.read_text(), re.MULTILINE):
            assert command in cli.commands, f"{document.name}: {command}"

"""Who may import whom: the contracts in pyproject.toml are kept, and would be noticed if broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(LINTER), "--no-cache", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_import_contract_is_kept() -> None:
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


def test_a_broken_contract_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "room"
    package.mkdir()
    (package / "__init__.py").write_text("import random\n")
    (tmp_path / ".importlinter").write_text(
        "[importlinter]\nroot_package = room\ninclude_external_packages = True\n\n"
        "[importlinter:contract:1]\nname = no chance\ntype = forbidden\n"
        "source_modules = room\nforbidden_modules = random\n"
    )
    result = lint(tmp_path, "--config", ".importlinter")
    assert result.returncode != 0
    assert "no chance BROKEN" in result.stdout

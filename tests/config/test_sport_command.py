"""`scorebox sport` as it is typed: on a server and on the data folder here."""

import json
import os
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from bench.play import opening
from config.cli import main
from runtime.wheels import read_wheel
from tests.acceptance.server import ServerProcess, server_process
from tests.config.conftest import Scorebox
from tests.sportcopies import cricket_copy


def build(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["sport", "build", *map(str, arguments)])


def test_a_folder_is_built_into_a_wheel_and_again_into_the_same(tmp_path: Path) -> None:
    folder = cricket_copy(tmp_path, "1.0.1", golden=2)
    (folder / "scorebox_cricket" / "manifest.json").write_text("{}")
    built = build(folder)
    assert built.exit_code == 0, built.output
    path = folder / "dist" / "scorebox_cricket-1.0.1-py3-none-any.whl"
    assert built.stdout.strip() == str(path)
    wheel = read_wheel(path.read_bytes())
    assert (wheel.sport, wheel.version, len(wheel.golden)) == ("cricket", "1.0.1", 2)
    assert wheel.manifest["commands"], "the manifest is made anew"
    assert (folder / "scorebox_cricket" / "manifest.json").read_text() == "{}", "the sources stay as they are"
    for file in folder.rglob("*.py"):
        os.utime(file, (0, 0))
    again = build(folder, "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


def test_the_wheel_of_a_bundled_sport_holds_what_is_bundled(tmp_path: Path) -> None:
    bundled = Path(__file__).parents[2] / "sports" / "cricket"
    assert build(bundled, "--out", tmp_path).exit_code == 0
    (path,) = tmp_path.iterdir()
    package = bundled / "scorebox_cricket"
    files = {
        file.relative_to(bundled).as_posix(): file.read_bytes()
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert read_wheel(path.read_bytes()).files == files


def test_unreleased_code_gets_a_version_of_its_own(tmp_path: Path) -> None:
    folder = cricket_copy(tmp_path, "1.0.1")
    versions = set()
    for word in ("officials", "umpires"):
        sport = folder / "scorebox_cricket" / "sport.py"
        sport.write_text(sport.read_text().replace('_only_logged("officials")', f'_only_logged("{word}")'))
        built = build(folder, "--dev")
        assert built.exit_code == 0, built.output
        versions.add(read_wheel(Path(built.stdout.strip()).read_bytes()).version)
    assert len(versions) == 2
    assert all(version.startswith("1.0.1+dev.") for version in versions)


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("pyproject.toml", 'version = "1.0.1"', 'version = "1.0"', "must be X.Y.Z"),
        ("pyproject.toml", 'version = "1.0.1"', 'version = "1.0.2"', "write the same in both"),
        ("pyproject.toml", "dependencies = []", 'dependencies = ["requests"]', "has dependencies"),
        ("pyproject.toml", "dependencies = []", 'scripts = {run = "a:b"}', "has scripts"),
        ("pyproject.toml", "[project]", "[projects]", "has no [project]"),
        ("pyproject.toml", "[project]", "[project", "cannot be read"),
        ("scorebox_cricket/__init__.py", "SPORT:", "1 / 0\nSPORT:", "ZeroDivisionError"),
        ("scorebox_cricket/sport.py", '    name = "Cricket"', "", "cannot describe itself"),
    ],
)
def test_what_cannot_be_built_is_said_in_a_sentence(
    tmp_path: Path, file: str, old: str, new: str, sentence: str
) -> None:
    folder = cricket_copy(tmp_path, "1.0.1")
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    built = build(folder)
    assert built.exit_code == 2
    assert sentence in built.stderr
    assert not (folder / "dist").exists()


def test_a_folder_that_is_no_sports_is_refused(tmp_path: Path) -> None:
    assert "no sport's folder" in build(tmp_path).stderr
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.0.0"\n')
    assert "it holds none" in build(tmp_path).stderr
    for name in ("scorebox_a", "scorebox_b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    assert "scorebox_a, scorebox_b" in build(tmp_path).stderr
    assert build(tmp_path / "nowhere").exit_code == 2


def test_versions_on_a_server(scorebox: Scorebox, tmp_path: Path) -> None:
    wheels = []
    for version in ("0.1.0", "0.1.1"):
        built = build(cricket_copy(tmp_path, version, golden=1))
        wheels.append(built.stdout.strip())
    installed = scorebox("sport", "install", wheels[0])
    assert installed.exit_code == 0, installed.output
    assert [line.split()[0] for line in installed.stdout.splitlines()] == [
        "read",
        "started",
        "golden",
        "installed",
    ]
    assert "new matches still use a newer version" in installed.stdout
    lines = scorebox("sport", "install", wheels[1], "--json").stdout.splitlines()
    assert json.loads(lines[-1])["version"] == "0.1.1"
    listed = scorebox("sport", "list").stdout
    row = next(line for line in listed.splitlines() if "0.1.0" in line)
    assert row.split()[0] == "cricket"
    assert row.split()[-1] == "0"
    rows = json.loads(scorebox("sport", "list", "--json").stdout)
    assert {each["version"] for each in rows if each["sport"] == "cricket"} >= {"0.1.0", "0.1.1", "1.0.0"}
    for version in ("0.1.0", "0.1.1"):
        retired = scorebox("sport", "retire", "cricket", version)
        assert (retired.exit_code, retired.stdout) == (0, f"cricket {version} is retired\n")
    assert "0.1." not in scorebox("sport", "list").stdout


def test_refusals_are_one_sentence_and_exit_code_2(
    scorebox: Scorebox, cli_server: ServerProcess, tmp_path: Path
) -> None:
    file = tmp_path / "notes.whl"
    file.write_text("no wheel")
    folder = cricket_copy(tmp_path, "1.0.0", officials="judges")
    other = build(folder).stdout.strip()
    for arguments, sentence in (
        (("install", file), "is no wheel"),
        (("install", other), "installed with other content"),
        (("install", tmp_path / "nothing.whl"), "does not exist"),
        (("retire", "cricket", "9.9.9"), "is not installed"),
        (("retire", "cricket", "1.0.0"), "new matches use"),
    ):
        result = scorebox("sport", *arguments)
        assert result.exit_code == 2, arguments
        assert sentence in result.stderr
    operator = scorebox("token", "create", "--role", "operator", SCOREBOX_DATA=str(cli_server.data)).stdout
    result = scorebox("sport", "retire", "cricket", "1.0.0", SCOREBOX_TOKEN=operator.strip())
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith("take a token of ops or admin"), "not to make another operator's"
    away = {"SCOREBOX_SERVER": "http://127.0.0.1:9"}
    result = scorebox("sport", "list", **away)
    assert (result.exit_code, "does not answer" in result.stderr) == (2, True)
    result = scorebox("sport", "install", other, SCOREBOX_TOKEN="nobody")
    assert (result.exit_code, "token" in result.stderr) == (2, True)


def test_versions_in_the_data_folder_here_beside_its_server_and_without(tmp_path: Path) -> None:
    with server_process() as server:
        wheel = build(cricket_copy(tmp_path, "1.0.1", golden=1)).stdout.strip()
        assert _here(server, "install", wheel)[-1].startswith("installed")
        created = _create(server)
        rows = {row["version"]: row for row in json.loads("".join(_here(server, "list", "--json")))}
        assert (rows["1.0.1"]["current"], rows["1.0.1"]["unfinished"]) == (True, 1), created
        server.stop()
        rows = {row["version"]: row for row in json.loads("".join(_here(server, "list", "--json")))}
        assert rows["1.0.1"]["unfinished"] == 1


def _here(server: ServerProcess, *arguments: str) -> list[str]:
    return server.run("sport", *arguments).stdout.splitlines()


def _create(server: ServerProcess) -> str:
    body = {"sport": "cricket", "name": "A v B", "opening": opening()}
    headers = {"Authorization": f"Bearer {server.token}"}
    answer = httpx.post(f"{server.url}/v1/matches", json=body, headers=headers, trust_env=False)
    match: str = answer.json()["match"]
    return match


def new(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["sport", "new", *map(str, arguments)])


def test_a_new_sport_builds_and_is_installed_and_played(scorebox: Scorebox, tmp_path: Path) -> None:
    folder = tmp_path / "padel"
    begun = new("padel", folder, "--name", "Padel (doubles)")
    assert begun.exit_code == 0, begun.output
    assert all(Path(line).is_file() for line in begun.stdout.splitlines())
    built = build(folder)
    assert built.exit_code == 0, built.output
    wheel = read_wheel(Path(built.stdout.strip()).read_bytes())
    assert (wheel.sport, wheel.manifest["name"], wheel.version) == ("padel", "Padel (doubles)", "0.1.0")
    installed = scorebox("sport", "install", built.stdout.strip())
    assert installed.exit_code == 0, installed.output
    assert "1/1 Alpha v Beta came out right" in installed.stdout
    assert any(line.split()[0] == "padel" for line in scorebox("sport", "list").stdout.splitlines())


@pytest.mark.parametrize(
    ("code", "name", "sentence"),
    [
        ("Padel", "Padel", "no code of a sport"),
        ("../padel", "Padel", "no code of a sport"),
        ("padel", 'Pad"el', "no name of a sport"),
        ("padel", "P" * 65, "no name of a sport"),
    ],
)
def test_a_sport_that_cannot_be_called_so(tmp_path: Path, code: str, name: str, sentence: str) -> None:
    begun = new(code, tmp_path / "new", "--name", name)
    assert begun.exit_code == 2
    assert sentence in begun.stderr
    assert not (tmp_path / "new").exists()


def test_a_new_sport_is_written_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    assert "is not empty" in new("padel", tmp_path).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]

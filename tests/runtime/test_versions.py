"""Version folders: whole or not there, read-only, hashed before use."""

import json
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from runtime.bundled import BundledSport, bundled_sports
from runtime.errors import CodeMissing, CodeTampered, CodeUnfit, ManifestMissing, VersionConflict
from runtime.fingerprint import code_sha, files_sha, package_files
from runtime.pool import open_pools
from runtime.versions import VersionStore
from tests.runtime.conftest import ROGUE
from tests.runtime.rogue_calls import PATIENCE_S, Rogue


def package(folder: Path, text: str = "SPORT = None\n", name: str = "scorebox_chess") -> Path:
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    (made / "__init__.py").write_text(text)
    return made


def unseal(path: Path) -> Path:
    """What somebody with the rights to it can do to a sealed folder."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    return path


@pytest.fixture
def shelf(tmp_path):
    return VersionStore(tmp_path / "sports")


def test_an_installed_version_is_found_again(shelf, tmp_path):
    installed = shelf.install_folder(package(tmp_path), "chess", "1.2.0")
    assert installed.folder == shelf.root / "chess" / "1.2.0"
    for store in (shelf, VersionStore(shelf.root)):
        assert store.current("chess") == installed
        assert store.current("chess", "1.2.0") == installed
        assert store.find(installed.code_sha) == installed
        assert store.sports() == ["chess"]
        store.verify(installed)
    assert shelf.current("chess", "9.9.9") is None
    assert shelf.current("go") is None
    with pytest.raises(CodeMissing):
        shelf.find("0" * 64)


def test_another_process_may_install(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr("runtime.versions.REFRESH_PAUSE_S", 0.0)
    installed = VersionStore(shelf.root).install_folder(package(tmp_path), "chess", "1.0.0")
    assert shelf.find(installed.code_sha) == installed


def test_a_version_folder_is_read_only(shelf, tmp_path):
    source = package(tmp_path)
    (source / "pieces").mkdir()
    (source / "pieces" / "king.py").write_text("MOVES = 1\n")
    installed = shelf.install_folder(source, "chess", "1.0.0")
    for path in [installed.folder, *installed.folder.rglob("*")]:
        if path.name != "__pycache__":
            assert stat.S_IMODE(path.stat().st_mode) & 0o222 == 0, path


def test_the_same_content_again_is_the_same_version(shelf, tmp_path):
    first = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    assert shelf.install_folder(package(tmp_path / "copy"), "chess", "1.0.0") == first
    assert sorted(path.name for path in (shelf.root / "chess").iterdir()) == ["1.0.0", "current"]


def test_the_same_version_with_other_content_is_refused(shelf, tmp_path):
    first = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    other = package(tmp_path / "other", "SPORT = 1\n")
    with pytest.raises(VersionConflict, match=r"chess 1\.0\.0 is installed with other content"):
        shelf.install_folder(other, "chess", "1.0.0")
    assert shelf.versions("chess") == [first]
    assert sorted(path.name for path in (shelf.root / "chess").iterdir()) == ["1.0.0", "current"]


def test_unreleased_content_becomes_a_dev_version_and_is_current(shelf, tmp_path):
    first = shelf.install_folder(package(tmp_path), "chess", "1.0.0", dev=True)
    second = shelf.install_folder(package(tmp_path / "b", "SPORT = 1\n"), "chess", "1.0.0", dev=True)
    third = shelf.install_folder(package(tmp_path / "c", "SPORT = 2\n"), "chess", "1.0.0", dev=True)
    assert first.version == "1.0.0"
    assert second.version == f"1.0.0+dev.{second.code_sha[:8]}"
    assert len({first.code_sha, second.code_sha, third.code_sha}) == 3
    assert VersionStore(shelf.root).current("chess") == third
    assert shelf.install_folder(package(tmp_path / "b", "SPORT = 1\n"), "chess", "1.0.0", dev=True) == second
    assert VersionStore(shelf.root).current("chess") == second, "the newest install of the same number"
    assert shelf.find(third.code_sha) == third, "running matches keep theirs"


def test_an_older_version_does_not_become_current(shelf, tmp_path):
    newer = shelf.install_folder(package(tmp_path), "chess", "1.10.0")
    shelf.install_folder(package(tmp_path / "old", "SPORT = 0\n"), "chess", "1.9.0")
    assert shelf.current("chess") == newer
    assert [each.version for each in shelf.versions("chess")] == ["1.9.0", "1.10.0"]
    (shelf.root / "chess" / "current").unlink()
    assert VersionStore(shelf.root).current("chess") == newer, "without the mark, the highest"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda code: unseal(code / "__init__.py").write_text("SPORT = 'mine'\n"),
        lambda code: (unseal(code) / "__init__.py").unlink(),
        lambda code: (unseal(code) / "extra.py").write_text(""),
        lambda code: (unseal(code) / "link.py").symlink_to("/etc/passwd"),
        lambda code: (unseal(code) / "fast.so").write_bytes(b"\x7fELF"),
        lambda code: (unseal(code.parent) / "beside.py").write_text(""),
        lambda code: unseal(code.parent / "files.sha256").write_text("0" * 64),
    ],
    ids=["changed", "removed", "added", "link", "compiled", "beside the package", "record"],
)
async def test_a_tampered_version_is_refused(shelf, spoil):
    version = shelf.install_folder(ROGUE, "rogue", "1.0.0")
    async with open_pools(shelf) as pools:
        rogue = Rogue(pools, version)
        assert (await rogue.call("hello", deadline_s=PATIENCE_S))["sport"] == "rogue"
        spoil(version.folder / version.package)
        with pytest.raises(CodeTampered):
            shelf.verify(version)
    async with open_pools(shelf) as pools:
        with trio.fail_after(PATIENCE_S), pytest.raises(CodeTampered):
            await pools.call(version.code_sha, "ping", {})
    again = VersionStore(shelf.root)
    assert again.sports() == []
    assert list(again.damaged) == [version.folder]


async def test_foreign_bytecode_is_never_run(shelf, tmp_path):
    version = shelf.install_folder(ROGUE, "rogue", "1.0.0")
    shelf.verify(version)
    cached = version.folder / version.package / "__pycache__"
    honest = next(cached.glob("__init__.*.pyc"))
    evil = package(tmp_path, "SPORT = 'mine'\n")
    subprocess.run([sys.executable, "-m", "py_compile", str(evil / "__init__.py")], check=True)
    data = bytearray(next((evil / "__pycache__").iterdir()).read_bytes())
    data[:16] = honest.read_bytes()[:16]
    honest.unlink()
    honest.write_bytes(data)
    shelf.verify(version)
    async with open_pools(shelf) as pools:
        assert (await Rogue(pools, version).call("hello", deadline_s=PATIENCE_S))["sport"] == "rogue"


def test_a_damaged_folder_is_mended_by_installing_it_again(shelf, tmp_path):
    installed = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    unseal(installed.folder / "scorebox_chess" / "__init__.py").write_text("SPORT = 'mine'\n")
    store = VersionStore(shelf.root)
    assert store.current("chess") is None
    assert store.install_folder(package(tmp_path), "chess", "1.0.0") == installed
    store.verify(installed)


def test_a_version_folder_that_is_gone(shelf, tmp_path):
    installed = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    unseal(installed.folder)
    unseal(installed.folder / "scorebox_chess")
    shutil.rmtree(installed.folder)
    with pytest.raises(CodeMissing, match="is gone"):
        shelf.verify(installed)


def test_installs_at_the_same_time_end_in_one_folder(shelf, tmp_path):
    source = package(tmp_path, "SPORT = 1\n" * 200)
    start = threading.Barrier(8)
    found, errors = [], []

    def install() -> None:
        store = VersionStore(shelf.root)
        start.wait()
        try:
            found.append(store.install_folder(source, "chess", "1.0.0"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=install) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(found)) == 1
    assert sorted(path.name for path in (shelf.root / "chess").iterdir()) == ["1.0.0", "current"]
    shelf.refresh()
    shelf.verify(found[0])


def test_different_contents_at_the_same_time_leave_one_and_refuse_the_others(shelf, tmp_path):
    start = threading.Barrier(4)
    outcomes: list[str] = []

    def install(number: int) -> None:
        store = VersionStore(shelf.root)
        source = package(tmp_path / str(number), f"SPORT = {number}\n")
        start.wait()
        try:
            store.install_folder(source, "chess", "1.0.0")
            outcomes.append("installed")
        except VersionConflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=install, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["conflict", "conflict", "conflict", "installed"]


def test_what_a_crash_left_half_written_is_swept(shelf, tmp_path):
    installed = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    left = [
        package(shelf.root / "chess" / ".incoming-a").parent,
        package(shelf.root / ".incoming-b").parent,
        package(shelf.root / "chess" / ".retired-c").parent,
    ]
    file = shelf.root / "chess" / ".incoming-d"
    file.write_text("1.0.0")
    for folder in left:
        folder.chmod(0o555)
    with shelf.writing():
        VersionStore(shelf.root)
    assert all(path.exists() for path in [*left, file]), "somebody writes"
    assert VersionStore(shelf.root).current("chess") == installed
    assert not any(path.exists() for path in [*left, file])


def test_a_version_is_tried_in_a_store_of_its_own(shelf, tmp_path):
    files = package_files(package(tmp_path))
    with shelf.staging() as stage:
        tried = stage.place(files, "scorebox_chess", "chess", "1.0.0")
        stage.verify(tried)
        assert VersionStore(shelf.root).sports() == []
    assert [path.name for path in shelf.root.iterdir()] == [".lock"]


def test_a_placed_version_is_used_only_when_it_is_said(shelf, tmp_path):
    first = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    files = package_files(package(tmp_path / "new", "SPORT = 1\n"))
    shelf.check_free(files, "chess", "1.1.0")
    second = shelf.place(files, "scorebox_chess", "chess", "1.1.0")
    assert shelf.current("chess") == first
    with pytest.raises(VersionConflict):
        shelf.check_free(files, "chess", "1.0.0")
    with pytest.raises(VersionConflict):
        shelf.place(files, "scorebox_chess", "chess", "1.0.0")
    assert shelf.use(second)
    assert shelf.current("chess") == second
    assert not shelf.use(first)


def test_a_server_finds_the_version_another_process_made_current(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr("runtime.versions.REFRESH_PAUSE_S", 0.0)
    shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    newer = VersionStore(shelf.root).install_folder(package(tmp_path / "b", "SPORT = 1\n"), "chess", "1.1.0")
    assert shelf.current("chess") == newer


def test_a_removed_version_is_gone(shelf, tmp_path):
    installed = shelf.install_folder(package(tmp_path), "chess", "1.0.0")
    shelf.remove(installed)
    shelf.remove(installed)
    assert not installed.folder.exists()
    assert shelf.versions("chess") == []
    assert sorted(path.name for path in (shelf.root / "chess").iterdir()) == ["current"]


@pytest.mark.parametrize(
    ("sport", "name", "version"),
    [
        ("../chess", "scorebox_chess", "1.0.0"),
        ("chess", "scorebox_chess", "1.0"),
        ("chess", "scorebox_chess", "../1.0.0"),
        ("chess", "scorebox_chess", "1.0.0+dev.xyz"),
        ("Chess", "scorebox_chess", "1.0.0"),
        ("chess", "Scorebox", "1.0.0"),
    ],
)
def test_names_and_versions_cannot_lead_elsewhere(shelf, tmp_path, sport, name, version):
    with pytest.raises(CodeUnfit):
        shelf.install_folder(package(tmp_path, name=name), sport, version)
    assert not shelf.root.exists() or list(shelf.root.iterdir()) == []


def test_a_folder_without_an_init_is_no_package(shelf, tmp_path):
    with pytest.raises(CodeUnfit, match=r"no __init__\.py"):
        shelf.install_folder(tmp_path / "scorebox_nothing", "chess", "1.0.0")


def test_the_manifest_comes_from_the_package(shelf, tmp_path):
    source = package(tmp_path)
    without = shelf.install_folder(source, "chess", "1.0.0")
    with pytest.raises(ManifestMissing):
        shelf.manifest(without)
    (source / "manifest.json").write_text(json.dumps({"sport": "chess", "version": "1.1.0"}))
    assert shelf.manifest(shelf.install_folder(source, "chess", "1.1.0"))["sport"] == "chess"
    (source / "manifest.json").write_text("[]")
    with pytest.raises(ManifestMissing, match="no JSON object"):
        shelf.manifest(shelf.install_folder(source, "chess", "1.2.0"))


def test_bundled_sports_are_found_without_importing_them(tmp_path, shelf):
    one = package(tmp_path / "sports" / "chess", "raise SystemExit\n")
    (one / "manifest.json").write_text(json.dumps({"version": "2.0.0"}))
    two = package(tmp_path / "sports" / "go", "raise SystemExit\n", "scorebox_go")
    (two.parent / "pyproject.toml").write_text('[project]\nname = "scorebox-go"\nversion = "0.3.1"\n')
    package(tmp_path / "sports" / "contract", "", "scorebox_contract")
    package(tmp_path / "sports" / "readers", "", "readers")
    assert bundled_sports(tmp_path) == [BundledSport("chess", "2.0.0", one), BundledSport("go", "0.3.1", two)]
    assert [each.version for each in shelf.install_bundled(tmp_path)] == ["2.0.0", "0.3.1"]
    assert shelf.sports() == ["chess", "go"]
    (two.parent / "pyproject.toml").unlink()
    with pytest.raises(ManifestMissing, match="says a version"):
        bundled_sports(tmp_path)


contents = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "c/d.json", "e"]), st.binary(max_size=8), min_size=1
)


@given(contents, contents)
def test_equal_fingerprints_are_equal_files(one, other):
    assert (code_sha(one) == code_sha(other)) == (one == other)
    assert (files_sha(one) == files_sha(other)) == (one == other)


def test_the_contract_and_the_python_count_in_a_code_sha():
    files = {"scorebox_chess/__init__.py": b""}
    assert len({code_sha(files), code_sha(files, "next"), code_sha(files, python="3.99")}) == 3


def test_bytecode_does_not_count(tmp_path):
    source = package(tmp_path)
    before = package_files(source)
    subprocess.run([sys.executable, "-m", "py_compile", str(source / "__init__.py")], check=True)
    assert (source / "__pycache__").is_dir()
    assert package_files(source) == before == {"scorebox_chess/__init__.py": b"SPORT = None\n"}

"""An archive is there whole or not at all, and one that was cut or changed is refused."""

import os
import random
import zipfile
from pathlib import Path

import msgspec
import pytest

from runtime.archive import new_archive, open_archive
from runtime.errors import ArchiveUnfit, FileTaken

KIND = "scorebox-test"
READS = range(1, 3)
MEMBERS = {"tables/a": b"one\ntwo\n" * 500, "tables/b": b"", "sports/x/1.0.0/x/__init__.py": b"X = 1\n"}


class About(msgspec.Struct):
    what: str


def write(target: Path, version: int = 1) -> str:
    with new_archive(target) as made:
        for name, content in MEMBERS.items():
            with made.member(name) as put:
                for start in range(0, len(content), 100):
                    put(content[start : start + 100])
        return made.finish(KIND, version, About("test"))


def read(path: Path) -> dict[str, bytes]:
    with open_archive(path, KIND, READS) as found:
        assert msgspec.json.decode(found.about, type=About) == About("test")
        return {name: b"".join(found.chunks(name)) for name in found.members}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    target = tmp_path / "a.backup"
    sha = write(target)
    assert read(target) == MEMBERS
    assert os.listdir(tmp_path) == ["a.backup"]
    assert target.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(target) as plain, open_archive(target, KIND, READS) as found:
        assert sorted(plain.namelist()) == sorted([*MEMBERS, "manifest.json"])
        assert found.sha256 == sha


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.backup"
    target.write_text("dear")
    with pytest.raises(FileTaken):
        write(target)
    assert target.read_text() == "dear"
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileTaken):
        write(link)


def test_a_name_that_is_taken_meanwhile_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.backup"

    def race() -> None:
        with new_archive(target) as made:
            target.write_text("dear")
            made.finish(KIND, 1, About("test"))

    with pytest.raises(FileTaken):
        race()
    assert target.read_text() == "dear"


@pytest.mark.parametrize("named", [False, True])
def test_nothing_is_left_of_one_that_failed(
    tmp_path: Path, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named:
        # As on NFS: the folder takes no files without a name.
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)

    def fill() -> None:
        with new_archive(tmp_path / "a") as made, made.member("x") as put:
            put(b"x")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fill()
    assert os.listdir(tmp_path) == []
    write(tmp_path / "b")
    assert read(tmp_path / "b") == MEMBERS
    assert os.listdir(tmp_path) == ["b"]


def test_one_that_was_cut_anywhere_is_refused(tmp_path: Path) -> None:
    target, cut = tmp_path / "a", tmp_path / "cut"
    write(target)
    whole = target.read_bytes()
    for length in {0, 1, 21, len(whole) // 2, *range(len(whole) - 120, len(whole))}:
        cut.write_bytes(whole[:length])
        with pytest.raises(ArchiveUnfit):
            read(cut)


def test_one_with_a_changed_byte_is_refused_or_says_the_same(tmp_path: Path) -> None:
    target, changed = tmp_path / "a", tmp_path / "changed"
    write(target)
    whole = target.read_bytes()
    chance = random.Random(1)
    refused = 0
    for _ in range(400):
        place = chance.randrange(len(whole))
        changed.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :]
        )
        try:
            assert read(changed) == MEMBERS  # A date in a header says nothing.
        except ArchiveUnfit:
            refused += 1
    assert refused > 200


def test_one_that_was_packed_anew_with_other_content_is_refused(tmp_path: Path) -> None:
    target, forged = tmp_path / "a", tmp_path / "forged"
    write(target)
    with zipfile.ZipFile(target) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            new.writestr(name, bytes(reversed(old.read(name))) if name == "tables/a" else old.read(name))
        new.comment = old.comment
    with pytest.raises(ArchiveUnfit, match="tables/a"):
        read(forged)


def test_other_files_and_other_versions_are_refused_by_name(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("no archive")
    with pytest.raises(ArchiveUnfit):
        read(other)
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("x", "y")
    with pytest.raises(ArchiveUnfit, match="is no scorebox-test"):
        read(other)
    write(tmp_path / "new", version=3)
    with pytest.raises(ArchiveUnfit, match="version 3, this program reads 1 to 2"):
        read(tmp_path / "new")

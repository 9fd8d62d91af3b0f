"""Wheels: equal sources give equal bytes, and whatever is wrong with a file is one sentence."""

import io
import json
import stat
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import wheels
from runtime.errors import WheelUnfit
from runtime.wheels import Entry, check_entries, check_path, read_wheel, write_wheel
from scorebox_contract import CONTRACT_VERSION

MANIFEST = {"contract": CONTRACT_VERSION, "sport": "chess", "name": "Chess", "version": "1.0.0"}
FILES = {
    "scorebox_chess/__init__.py": b"SPORT = None\n",
    "scorebox_chess/pieces/king.py": b"MOVES = 1\n",
    "scorebox_chess/manifest.json": json.dumps(MANIFEST).encode(),
}
GOLDEN = {"immortal.scorebook": b"e4 e5", "README.md": b"games"}
INFO = "scorebox_chess-1.0.0.dist-info"
METADATA, WHEEL, RECORD = f"{INFO}/METADATA", f"{INFO}/WHEEL", f"{INFO}/RECORD"

Contents = dict[str, bytes]


def made(
    files: Contents | None = None, version: str = "1.0.0", golden: Contents | None = None, **fields: Any
) -> bytes:
    """A wheel; `fields` are changed in its manifest."""
    manifest = {"scorebox_chess/manifest.json": json.dumps(MANIFEST | fields).encode()}
    return write_wheel("scorebox-chess", version, "Chess", FILES | manifest | (files or {}), golden or {})


def contents(data: bytes) -> Contents:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def packed(entries: Contents, **how: Any) -> bytes:
    """An archive of these entries, as they are: nothing is put right."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how.pop("method", zipfile.ZIP_STORED)) as archive:
        for path, content in entries.items():
            archive.writestr(path, content)
    return data.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(WheelUnfit) as raised:
        read_wheel(data)
    sentence = str(raised.value)
    assert sentence
    assert "\n" not in sentence
    return sentence


def test_a_wheel_is_read_as_it_was_written() -> None:
    wheel = read_wheel(made(golden=GOLDEN))
    assert (wheel.package, wheel.sport, wheel.version) == ("scorebox_chess", "chess", "1.0.0")
    assert wheel.files == FILES
    assert wheel.golden == GOLDEN
    assert wheel.manifest == MANIFEST


def test_golden_matches_in_the_package_are_found_too() -> None:
    wheel = read_wheel(made({"scorebox_chess/golden/a.scorebook": b"1"}, golden={"b.scorebook": b"2"}))
    assert wheel.golden == {"a.scorebook": b"1", "b.scorebook": b"2"}
    assert "scorebox_chess/golden/a.scorebook" in wheel.files


def test_equal_sources_give_equal_bytes() -> None:
    backwards = dict(reversed(FILES.items()))
    again = write_wheel("scorebox-chess", "1.0.0", "Chess", backwards, dict(reversed(GOLDEN.items())))
    assert again == made(golden=GOLDEN)
    assert made({"scorebox_chess/pieces/king.py": b"MOVES = 2\n"}) != made()


def test_a_wheel_of_another_build_tool_is_read() -> None:
    entries = contents(made())
    entries[f"{INFO}/licenses/LICENSE"] = b"free"
    record = entries.pop(RECORD).decode()
    digest = wheels._digest(b"free")
    entries[RECORD] = f"{record}{INFO}/licenses/LICENSE,sha256={digest},4\n".encode()
    assert read_wheel(packed(entries, method=zipfile.ZIP_DEFLATED)).files == FILES


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("../evil.py", "leads out"),
        ("scorebox_chess/../../evil.py", "leads out"),
        ("/etc/evil.py", "leads out"),
        ("C:/evil.py", "leads out"),
        ("scorebox_chess\\..\\evil.py", "leads out"),
        ("scorebox_chess/./king.py", "signs"),
        ("scorebox_chess//king.py", "signs"),
        ("scorebox_chess/king.py ", "signs"),
        ("scorebox_chess/king.", "signs"),
        ("scorebox_chess/kïng.py", "signs"),
        ("scorebox_chess/king\n.py", "signs"),
        ("scorebox_chess/" + "a" * 200, "too long"),
        ("scorebox_chess/" + "a/" * 12 + "b", "too deep"),
    ],
)
def test_paths_that_lead_elsewhere_are_refused(path: str, word: str) -> None:
    entries = contents(made())
    assert word in refusal(packed({path: b""} | entries)) or "deep" in word
    with pytest.raises(WheelUnfit, match=r"leads out|signs|too long"):
        check_path(path)


@pytest.mark.parametrize(
    "paths",
    [
        ["a/b.py", "a/b.py"],
        ["a/b.py", "a/B.py"],
        ["a/b.py", "A/c.py"],
        ["a/b", "a/b/c.py"],
        ["a/b/c.py", "a/b"],
        ["a/B/c.py", "a/b"],
        ["a/b/", "a/b"],
    ],
)
def test_two_names_for_one_file_are_refused(paths: list[str]) -> None:
    for order in (paths, paths[::-1]):
        with pytest.raises(WheelUnfit, match="twice, or in two spellings"):
            check_entries([Entry(path, 1, 1) for path in order], 100)


def test_a_file_that_is_there_twice_is_refused() -> None:
    data = io.BytesIO(made())
    with zipfile.ZipFile(data, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("scorebox_chess/__init__.py", b"SPORT = 'evil'\n")
    assert "twice" in refusal(data.getvalue())


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(kind: int) -> None:
    data = io.BytesIO(made())
    with zipfile.ZipFile(data, "a") as archive:
        info = zipfile.ZipInfo("scorebox_chess/link.py")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert "link or a device" in refusal(data.getvalue())


def changed(**entries: bytes | None) -> Callable[[Contents], Contents]:
    """Replaces entries of a wheel by their last names, or takes them out."""

    def change(found: Contents) -> Contents:
        for name, content in entries.items():
            path = f"{INFO}/{name}"
            if content is None:
                del found[path]
            else:
                found[path] = content
        return found

    return change


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "no wheel"),
        (b"PK\x03\x04 and so on", "no wheel"),
        (b"#!/bin/sh\n", "no wheel"),
        (packed({"a.txt": b"a"}), "beside the package"),
        (packed({"scorebox_chess/__init__.py": b""}), "one .dist-info"),
        (made({"scorebox_go/__init__.py": b""}), "one package; it holds scorebox_chess, scorebox_go"),
        (made({"scorebox.pth": b"import os"}), "beside the package"),
        (made({"scorebox_chess-1.0.0.data/scripts/run": b"#!python"}), "scripts and data"),
        (made({"scorebox_chess-1.0.0.data/data/etc/x": b""}), "scripts and data"),
        (made({f"{INFO}/entry_points.txt": b"[console_scripts]"}), "entry points"),
        (made({"scorebox_chess/fast.so": b"\x7fELF"}), "compiled code"),
        (made({"scorebox_chess/fast.cpython-311-x86_64-linux-gnu.SO": b"\x7fELF"}), "compiled code"),
        (made({"scorebox_chess/__pycache__/a.py": b""}), "compiled code"),
        (made({"scorebox_chess/a.pyc": b""}), "compiled code"),
        (made(version="1.0"), "write X.Y.Z"),
        (made(version="1.0.0rc1"), "write X.Y.Z"),
        (made(version="1.0.1"), "its manifest.json says 1.0.0"),
        (made(contract="0"), "built for the contract '0'"),
        (made(contract=None), "does not say"),
        (made(sport="../chess"), "word in small letters"),
        (made(sport=7), "does not say"),
        (write_wheel("scorebox-chess", "1.0.0", "", {"scorebox_chess/__init__.py": b""}, {}), "no manifest"),
        (made(golden={}, files={"scorebox_chess/manifest.json": b"[]"}), "does not say"),
        (made(files={"scorebox_chess/manifest.json": b"{"}), "no JSON"),
        (made(files={"scorebox_chess/manifest.json": b"[" * 100_000}), "no JSON"),
        (write_wheel("chess", "1.0.0", "", {"chess/__init__.py": b""}, {}), "is called chess"),
        (write_wheel("x", "1.0.0", "", {"scorebox_contract/__init__.py": b""}, {}), "scorebox_contract"),
        (write_wheel("x", "1.0.0", "", {"scorebox_chess/a.py": b""}, {}), "no __init__.py"),
    ],
    ids=lambda value: value if isinstance(value, str) else "wheel",
)
def test_what_is_no_sports_wheel_is_refused_in_a_sentence(data: bytes, sentence: str) -> None:
    assert sentence in refusal(data)


def test_a_wheel_with_dependencies_or_for_one_machine_is_refused() -> None:
    def record_of(entries: Contents) -> Contents:
        rows = [f"{path},sha256={wheels._digest(data)},{len(data)}" for path, data in entries.items()]
        return entries | {RECORD: "\n".join([*rows, f"{RECORD},,"]).encode()}

    plain = contents(made())
    del plain[RECORD]
    needs = plain[METADATA] + b"Requires-Dist: requests>=2\n"
    assert "dependencies (requests>=2)" in refusal(packed(record_of(plain | {METADATA: needs})))
    native = plain[WHEEL].replace(b"true", b"false")
    assert "pure Python" in refusal(packed(record_of(plain | {WHEEL: native})))
    tagged = plain[WHEEL].replace(b"py3-none-any", b"cp311-cp311-linux_x86_64")
    assert "pure Python" in refusal(packed(record_of(plain | {WHEEL: tagged})))
    assert read_wheel(packed(record_of(plain))).files == FILES


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record.replace(b"sha256=", b"sha256=A", 1),
        lambda record: record.replace(b",13\n", b",14\n"),
        lambda record: b"\n".join(record.splitlines()[1:]) + b"\n",
        lambda record: record + b"scorebox_chess/gone.py,sha256=abc,1\n",
        lambda record: record.splitlines(keepends=True)[0] + record,
        lambda record: b"\xff\xfe",
        lambda record: b"",
        lambda record: record.replace(b"sha256=", b"md5=", 1),
        lambda record: b"scorebox_chess/__init__.py,,\n" + b"".join(record.splitlines(keepends=True)[1:]),
    ],
    ids=["hash", "size", "not named", "not there", "twice", "no text", "empty", "weak hash", "no hash"],
)
def test_files_are_what_record_says(spoil: Callable[[bytes], bytes]) -> None:
    entries = contents(made())
    assert spoil(entries[RECORD]) != entries[RECORD]
    entries[RECORD] = spoil(entries[RECORD])
    assert "RECORD" in refusal(packed(entries)) or "hash" in refusal(packed(entries))


def test_a_changed_file_is_not_what_record_says() -> None:
    entries = contents(made()) | {"scorebox_chess/pieces/king.py": b"MOVES = 9\n"}
    assert "not what its RECORD says" in refusal(packed(entries))


@pytest.mark.parametrize("name", ["METADATA", "WHEEL", "RECORD"])
def test_a_wheel_without_what_makes_it_one_is_refused(name: str) -> None:
    assert refusal(packed(changed(**{name: None})(contents(made()))))


def test_a_wheel_that_is_too_large_is_refused_before_it_is_looked_at() -> None:
    assert "bytes" in refusal(b"PK" + bytes(wheels.WHEEL_LIMIT_BYTES))


def test_too_many_files_are_refused() -> None:
    many = {f"scorebox_chess/m{number}.py": b"" for number in range(wheels.FILES_LIMIT + 1)}
    assert "more than 2000 files" in refusal(made(many))
    with pytest.raises(WheelUnfit, match="files, 2000 are allowed"):
        check_entries([Entry(path, 0, 0) for path in many], 1)


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    entries = contents(made())
    zeros = bytes(8 * 1024 * 1024)
    bomb = packed({"scorebox_chess/zeros.py": zeros} | entries, method=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 20_000
    assert "zip bomb" in refusal(bomb)
    parts = {f"scorebox_chess/z{number}.py": bytes(1_000_000) for number in range(33)}
    assert "zip bomb" in refusal(packed(parts | entries, method=zipfile.ZIP_DEFLATED))


def test_what_unpacks_to_too_much_is_refused() -> None:
    half = wheels.UNPACKED_LIMIT_BYTES // 2 + 1
    with pytest.raises(WheelUnfit, match="unpacks to"):
        check_entries([Entry("a/b.py", half, half), Entry("a/c.py", half, half)], 2 * half)


def test_an_entry_that_lies_about_its_size_is_refused() -> None:
    honest = packed(contents(made()) | {"scorebox_chess/big.py": bytes(5000)}, method=zipfile.ZIP_DEFLATED)
    lied = honest.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert lied != honest
    assert refusal(lied)


def test_encrypted_and_oddly_packed_entries_are_refused() -> None:
    for entry in (Entry("a/b.py", 1, 1, flags=1), Entry("a/b.py", 1, 1, method=zipfile.ZIP_LZMA)):
        with pytest.raises(WheelUnfit, match="encrypted"):
            check_entries([entry], 1)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_wheel_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    whole = bytearray(made(golden=GOLDEN))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    spoiled = (
        bytes(whole[: data.draw(st.integers(0, len(whole)))]) if data.draw(st.booleans()) else bytes(whole)
    )
    try:
        wheel = read_wheel(spoiled)
    except WheelUnfit:
        return
    assert wheel.files == FILES
    assert wheel.golden == GOLDEN

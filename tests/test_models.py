"""The container: what goes in comes out, the same model gives the same bytes, damage is refused."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import zipfile

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin._files import replacing
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError
from widemargin.models import load_model, save_model

CONTENT = {
    "kind": "test",
    "config": {"C": 1.0, "labels": ["a", "ä"]},
    "arrays": {"coef": np.arange(6, dtype=np.float32).reshape(2, 3)},
    "texts": {"vocabulary": "naïve words".encode()},
    "summary": {"documents": 3},
}


def small_model(folder) -> bytes:
    path = folder / "small.wm"
    save_model(path, **CONTENT)
    return path.read_bytes()


def load_bytes(folder, data: bytes):
    path = folder / "candidate.wm"
    path.write_bytes(data)
    return load_model(path)


def repacked(data: bytes, change) -> bytes:
    """The model with its members changed by `change(dict)` and every checksum of the zip made right again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
        comment = archive.comment
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return sealed(buffer.getvalue())


def sealed(data: bytes) -> bytes:
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
numbers = hnp.arrays(
    dtype=st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(endianness="?"),
        hnp.unsigned_integer_dtypes(endianness="?"),
        hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    ),
    shape=hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
)


class TestRoundTrip:
    @given(
        config=st.dictionaries(st.text(), json_values, max_size=3),
        arrays=st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), numbers, max_size=4),
        texts=st.dictionaries(
            st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,9}", fullmatch=True), st.binary(), max_size=3
        ),
        fortran=st.booleans(),
    )
    @settings(max_examples=60, deadline=None)
    def test_any_content(self, tmp_path_factory, config, arrays, texts, fortran):
        path = tmp_path_factory.mktemp("model") / "any.wm"
        given_arrays = {k: np.asfortranarray(a) if fortran else a for k, a in arrays.items()}
        save_model(
            path, kind="any", config=config, arrays=given_arrays, texts=texts, summary={"config": config}
        )
        model = load_model(path)
        assert (model.kind, model.config, model.summary, model.texts) == (
            "any",
            config,
            {"config": config},
            texts,
        )
        assert model.arrays.keys() == arrays.keys()
        for name, array in arrays.items():
            assert model.arrays[name].dtype == array.dtype.newbyteorder("<")
            np.testing.assert_array_equal(model.arrays[name], array)

    def test_strided_array(self, tmp_path):
        array = np.arange(12.0).reshape(3, 4)[::2, ::-1]
        save_model(tmp_path / "m.wm", kind="k", config={}, arrays={"a": array})
        np.testing.assert_array_equal(load_model(tmp_path / "m.wm").arrays["a"], array)

    def test_same_model_same_bytes(self, tmp_path):
        first = small_model(tmp_path)
        swapped = dict(CONTENT, config=dict(reversed(CONTENT["config"].items())))
        save_model(tmp_path / "again.wm", **swapped)
        assert (tmp_path / "again.wm").read_bytes() == first

    def test_any_zip_tool_can_look_inside(self, tmp_path):
        with zipfile.ZipFile(io.BytesIO(small_model(tmp_path))) as archive:
            assert archive.testzip() is None
            manifest = json.loads(archive.read("manifest.json"))
            assert archive.namelist() == ["manifest.json", "arrays.safetensors", "texts/vocabulary"]
            for name, claim in manifest["members"].items():
                data = archive.read(name)
                assert claim == {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        assert manifest["format_version"] == 1
        assert manifest["arrays"] == {"coef": {"dtype": "float32", "shape": [2, 3]}}

    def test_returns_its_size(self, tmp_path):
        assert save_model(tmp_path / "m.wm", **CONTENT) == (tmp_path / "m.wm").stat().st_size


class TestRefusesOnSaving:
    def test_array_of_objects(self, tmp_path):
        with pytest.raises(UsageError, match="'words' is of type"):
            save_model(tmp_path / "m.wm", kind="k", config={}, arrays={"words": np.array(["a"])})

    def test_name_of_a_text(self, tmp_path):
        with pytest.raises(UsageError, match="is not a valid name"):
            save_model(tmp_path / "m.wm", kind="k", config={}, arrays={}, texts={"../x": b""})

    def test_configuration_that_is_not_json(self, tmp_path):
        with pytest.raises(UsageError, match="JSON"):
            save_model(tmp_path / "m.wm", kind="k", config={"a": {1, 2}}, arrays={})
        assert list(tmp_path.iterdir()) == []


class TestDamage:
    def test_every_flipped_byte_is_refused(self, tmp_path):
        good = small_model(tmp_path)
        for place in range(len(good)):
            for bit in (0x01, 0x80):
                bad = bytearray(good)
                bad[place] ^= bit
                with pytest.raises(DataError, match=re.escape("candidate.wm")):
                    load_bytes(tmp_path, bytes(bad))

    def test_every_truncation_is_refused(self, tmp_path):
        good = small_model(tmp_path)
        for length in range(len(good)):
            with pytest.raises(DataError, match=r"candidate\.wm"):
                load_bytes(tmp_path, good[:length])

    def test_message_of_a_truncated_file(self, tmp_path):
        with pytest.raises(DataError, match=r"its end is missing\. Copy it again, or train it again"):
            load_bytes(tmp_path, small_model(tmp_path)[:-1])

    @given(data=st.data())
    @settings(max_examples=150, deadline=None)
    def test_resealed_damage_never_escapes(self, tmp_path_factory, data):
        """Even with the outer checksum made right, a changed byte gives a DataError or the same content."""
        folder = tmp_path_factory.mktemp("model")
        good = small_model(folder)
        bad = bytearray(good)
        for _ in range(data.draw(st.integers(1, 3))):
            bad[data.draw(st.integers(0, len(good) - 65))] = data.draw(st.integers(0, 255))
        try:
            model = load_bytes(folder, sealed(bytes(bad)))
        except DataError:
            return
        assert (model.config, model.texts, model.summary) == tuple(
            CONTENT[k] for k in ("config", "texts", "summary")
        )
        np.testing.assert_array_equal(model.arrays["coef"], CONTENT["arrays"]["coef"])

    def test_members_before_the_beginning(self, tmp_path):
        bad = bytearray(small_model(tmp_path))
        # The offset of the directory, in the record at the end: a little later moves all members before it.
        at = bad.rindex(b"PK\x05\x06") + 16
        bad[at : at + 4] = (int.from_bytes(bad[at : at + 4], "little") + 9).to_bytes(4, "little")
        with pytest.raises(DataError, match="damaged"):
            load_bytes(tmp_path, sealed(bytes(bad)))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda m: m.update({"extra.py": b"print()"}), "'extra.py' is not listed in its manifest"),
            (lambda m: m.pop("texts/vocabulary"), "'texts/vocabulary' is missing"),
            (lambda m: m.pop("manifest.json"), "it has no manifest.json"),
            (lambda m: m.update({"texts/vocabulary": b"other words "}), "SHA-256 of 'texts/vocabulary'"),
            (lambda m: m.update({"texts/vocabulary": b"x"}), "has 1 bytes, its manifest says 12"),
            (lambda m: m.update({"manifest.json": b"[" * 100_000}), "not JSON"),
            (lambda m: m.update({"manifest.json": b"[]"}), "not that of a widemargin model"),
        ],
    )
    def test_members_and_manifest_agree(self, tmp_path, change, message):
        with pytest.raises(DataError, match=message):
            load_bytes(tmp_path, repacked(small_model(tmp_path), change))

    def test_arrays_other_than_described(self, tmp_path):
        def claim_another_shape(members):
            manifest = json.loads(members["manifest.json"])
            manifest["arrays"]["coef"]["shape"] = [3, 2]
            members["manifest.json"] = json.dumps(manifest).encode()

        with pytest.raises(DataError, match="not those its manifest describes"):
            load_bytes(tmp_path, repacked(small_model(tmp_path), claim_another_shape))

    def test_safetensors_header_that_claims_too_much(self, tmp_path):
        def claim(members):
            arrays = (2**62).to_bytes(8, "little") + members["arrays.safetensors"][8:]
            manifest = json.loads(members["manifest.json"])
            manifest["members"]["arrays.safetensors"] = {
                "size": len(arrays),
                "sha256": hashlib.sha256(arrays).hexdigest(),
            }
            members["arrays.safetensors"] = arrays
            members["manifest.json"] = json.dumps(manifest).encode()

        with pytest.raises(DataError, match="its arrays cannot be read"):
            load_bytes(tmp_path, repacked(small_model(tmp_path), claim))

    def test_directory_that_claims_too_much(self, tmp_path):
        """A member said to hold 1 GiB is refused by its size, before anything of that size is allocated."""
        good = bytearray(small_model(tmp_path))
        entry = good.index(b"PK\x01\x02")
        for field in (20, 24):  # compressed and uncompressed size in the central directory
            good[entry + field : entry + field + 4] = (2**30).to_bytes(4, "little")
        with pytest.raises(DataError, match=r"claim \d+ bytes, the file has"):
            load_bytes(tmp_path, sealed(bytes(good)))

    def test_compressed_member(self, tmp_path):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = b"widemargin-model sha256 " + b"0" * 64
            archive.writestr("manifest.json", b" " * 1000)
        with pytest.raises(DataError, match="compressed"):
            load_bytes(tmp_path, sealed(buffer.getvalue()))

    def test_later_format(self, tmp_path):
        def later(members):
            manifest = json.loads(members["manifest.json"])
            manifest.update(format_version=2, library_version="9.1")
            members["manifest.json"] = json.dumps(manifest).encode()

        with pytest.raises(DataError, match=r"format 2 \(written by widemargin 9.1\).*Install the version"):
            load_bytes(tmp_path, repacked(small_model(tmp_path), later))

    @pytest.mark.parametrize("data", [b"", b"id,text\n1,a\n", b"PK", b"\x80\x04\x95"])
    def test_another_kind_of_file(self, tmp_path, data):
        with pytest.raises(DataError, match=r"is not a widemargin model\. Models are written by"):
            load_bytes(tmp_path, data)

    def test_missing_file(self, tmp_path):
        with pytest.raises(MissingFileError, match=r"no model file .*none\.wm"):
            load_model(tmp_path / "none.wm")

    def test_folder(self, tmp_path):
        with pytest.raises(StorageError, match="could not be read"):
            load_model(tmp_path)


class TestReplacing:
    def test_error_keeps_the_old_file(self, tmp_path):
        path = tmp_path / "f"
        path.write_text("old")

        def fail():
            with replacing(path) as file:
                file.write(b"new")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["f"]

    def test_link_and_permissions_are_kept(self, tmp_path):
        target = tmp_path / "target"
        target.write_text("old")
        target.chmod(0o640)
        link = tmp_path / "link"
        link.symlink_to(target)
        with replacing(link) as file:
            file.write(b"new")
        assert link.is_symlink()
        assert target.read_text() == "new"
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def test_new_file_obeys_the_umask(self, tmp_path):
        old = os.umask(0o027)
        try:
            with replacing(tmp_path / "f") as file:
                file.write(b"new")
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640

    def test_places_that_cannot_be_replaced(self, tmp_path):
        for path, error, message in (
            (tmp_path, StorageError, "is a folder"),
            (tmp_path / "none" / "f", MissingFileError, "there is no folder"),
            ("/dev/null", StorageError, "not an ordinary file"),
        ):
            with pytest.raises(error, match=message), replacing(path):
                pass

    @pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="this system has no limit on file sizes")
    def test_full_disk_keeps_the_old_model(self, tmp_path):
        path = tmp_path / "model.wm"
        save_model(path, **CONTENT)
        before = path.read_bytes()
        program = """
            import resource, signal, sys
            import numpy as np
            from widemargin.errors import StorageError
            from widemargin.models import save_model
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            try:
                save_model(sys.argv[1], kind="k", config={}, arrays={"a": np.zeros(1_000_000)})
            except StorageError as error:
                print(error)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program), path], capture_output=True, text=True, check=True
        )
        assert "could not be written: File too large. The previous content is unchanged" in done.stdout
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["model.wm"]

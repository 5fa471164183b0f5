"""Fetching: archives as the official homes have them, made small and served from this machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import itertools
import json
import lzma
import random
import re
import sys
import tarfile
import zipfile
from dataclasses import replace

import pytest

from tests.web import answering
from widemargin.documents.corpora import archives, fetch_corpus, fetching, load_corpus
from widemargin.documents.corpora.fetching import RECIPES
from widemargin.documents.corpora.home import records
from widemargin.documents.corpora.registry import find_files, find_source
from widemargin.documents.corpora.techtc import tasks
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError

STORIES = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">
<TOPICS><D>cocoa</D><D>grain</D></TOPICS><PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>A &amp; B</TITLE>
<DATELINE> X, Feb 26 - </DATELINE><BODY>Cocoa rose
 &lt;XYZ>.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="2" NEWID="2">
<TOPICS></TOPICS>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>SHORT NEWS
</TITLE>Blah blah blah.
&#3;
</TEXT>
</REUTERS>
"""


def tar(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode("latin-1"))
            archive.addfile(member, io.BytesIO(content.encode("latin-1")))
    return buffer.getvalue()


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


OFFICIAL = {
    "reuters21578": tar({"README.txt": "x", "reut2-000.sgm": STORIES}),
    "20newsgroups": tar(
        {"20news-bydate-train/sci.med/1": "From: a\xe9", "20news-bydate-test/sci.med/2": "From: b"}
    ),
    "webkb": tar({"webkb/course/cornell/http:^^x": "Date: y\n\n<p>A", "webkb/staff/misc/http:^^z": "<p>B"}),
    "ohsumed": tar(
        {
            "ohsumed-first-20000-docs/training/C02/0000007": "Title.\n Text.",
            "ohsumed-first-20000-docs/training/C01/0000007": "Title.\n Text.",
            "ohsumed-first-20000-docs/test/C01/0010001": "Other.",
        }
    ),
    "imdb": tar(
        {
            "aclImdb/README": "x",
            "aclImdb/train/pos/0_9.txt": "good",
            "aclImdb/train/unsup/0_0.txt": "?",
            "aclImdb/test/neg/2499_2.txt": "bad",
            "aclImdb/test/neg/2500_1.txt": "worse",
        }
    ),
    "sms-spam": zipped({"readme": "x", "SMSSpamCollection": 'ham\tHi "there\ttab\r\nspam\tWin £5\n'}),
    "clinc150": json.dumps({"train": [["send money", "transfer"]], "test": [["hi", "greeting"]]}).encode(),
}
TOKENS = {
    "tokens/lyrl2004_tokens_train.dat": ".I 2286\n.W\nrecov recov excit\nbring\n\n.I 2287\n.W\nuruguay\n",
    "tokens/lyrl2004_tokens_test_pt0.dat": ".I 26151\n.W\nfil\n",
    "tokens/lyrl2004_tokens_test_pt1.dat": ".I 26152\n.W\nplan\n",
    "rcv1-v2.topics.qrels": "E11 2286 1\nECAT 2286 1\nCCAT 26151 1\nGCAT 26152 1\n",
}
ABSTRACTS = (
    ".I 1\n.U\n91000001\n.S\nJ 91\n.M\nAsthma/*DT; Human.\n.T\nA title.\n.W\nAn abstract\nof two lines.\n"
    ".I 2\n.U\n91000002\n.M\nHuman.\n.T\nNo abstract.\n"
    ".I 3\n.U\n91000003\n.M\n*Human.\n.T\nNo disease.\n.W\nHealthy.\n"
    ".I 4\n.U\n91000004\n.M\nWerner Syndrome; Asthma.\n.T\nTwo.\n.W\nText.\n"
)
MESH = "Asthma;C08.127.108\nAsthma;C20.543.1\nHuman;B01\nWerner Syndrome;C16.1\nNew Things;C25.2\n"
PAGES = (
    "<dmoz_doc>\nid=0\n<dmoz_subdoc>\nCaf\xe9 page\n</dmoz_subdoc>\n<dmoz_subdoc>second</dmoz_subdoc>\n"
    "</dmoz_doc>\n<dmoz_doc>\nid=1\n<dmoz_subdoc>\nother\n</dmoz_subdoc>\n</dmoz_doc>\n"
)
TECHTC = {
    f"techtc100/{task}/{side}": PAGES
    for task in ("Exp_1_2", "Exp_3_4")
    for side in ("all_pos.txt", "all_neg.txt")
}
EXPECTED = {
    "reuters21578": (
        ["A & B\nCocoa rose\n <XYZ>.\n Reuter"],
        [("cocoa", "grain")],
        ["******SHORT NEWS\nBlah blah blah."],
        [()],
    ),
    "20newsgroups": (["From: aé"], [("sci.med",)], ["From: b"], [("sci.med",)]),
    "webkb": ([], [], ["A"], [("course",)]),
    "ohsumed": (["Title.\n Text."], [("C01", "C02")], ["Other."], [("C01",)]),
    "imdb": (["good"], [("pos",)], ["bad"], [("neg",)]),
    "sms-spam": (['Hi "there\ttab', "Win £5"], [("ham",), ("spam",)], [], []),
    "clinc150": (["send money"], [("transfer",)], ["hi"], [("greeting",)]),
}
SIZES = dict.fromkeys(OFFICIAL, 2)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty cache, and nothing named by the environment."""
    monkeypatch.delenv("WIDEMARGIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def serve():
    """Serve bytes over HTTP on this machine; gives their address."""
    content, lengths = {}, {}
    numbers = itertools.count()
    with answering(content, lengths) as address:

        def publish(body, promised=None):
            path = f"/{next(numbers)}"
            content[path] = body
            lengths[path] = len(body) if promised is None else promised
            return address + path

        yield publish


def use(monkeypatch, name, *addresses, **changes):
    recipe = replace(RECIPES[name], addresses=addresses, **{"digest": None, **changes})
    monkeypatch.setitem(RECIPES, name, recipe)


@pytest.mark.parametrize("name", OFFICIAL)
def test_an_official_archive_becomes_what_the_loader_reads(home, serve, monkeypatch, name):
    body = OFFICIAL[name]
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    use(monkeypatch, name, serve(body), documents=SIZES[name], digest=digest)
    (path,) = fetch_corpus(name)
    assert home in path.parents
    corpus = load_corpus(name)
    train_texts, train_labels, test_texts, test_labels = EXPECTED[name]
    assert (corpus.train.texts, corpus.train.labels) == (train_texts, train_labels)
    assert (corpus.test.texts, corpus.test.labels) == (test_texts, test_labels)
    assert [file for file in home.rglob("*") if file.is_file()] == [path]
    # A second time nothing is downloaded.
    use(monkeypatch, name, "http://127.0.0.1:9/nothing")
    assert fetch_corpus(name) == (path,)


def test_vectors_are_kept_as_they_are(home, serve, monkeypatch):
    files = (serve(b"+1 1:1 5:1\n-1 2:1\n"), serve(b"-1 123:1\n"))
    monkeypatch.setitem(RECIPES, "a5a", replace(RECIPES["a5a"], documents=3, files=files))
    fetch_corpus("a5a")
    adult = load_corpus("a5a")
    assert adult.train.labels == [("1",), ("-1",)]
    assert adult.train.X.shape == (2, 123)
    assert adult.test.X.shape == (1, 123)


def nothing_kept(home):
    return not [file for file in home.rglob("*") if file.is_file()]


ONE_STEP = {
    "reuters21578": "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.html",
    "ohsumed": "https://disi.unitn.it/moschitti/corpora.htm",
    "imdb": "https://ai.stanford.edu/~amaas/data/sentiment/",
    "webkb": "https://www.cs.cmu.edu/afs/cs.cmu.edu/project/theo-20/www/data/",
}


class TestDownloads:
    """Every failure names the home page and the way around, and leaves nothing behind."""

    @pytest.fixture(params=ONE_STEP)
    def name(self, request):
        return request.param

    @pytest.fixture
    def fails(self, home, name):
        def fails(kind, reason):
            with pytest.raises(kind) as caught:
                fetch_corpus(name)
            message = str(caught.value)
            assert message.startswith(f"{name} was not fetched. ")
            assert reason in message
            assert f"from {ONE_STEP[name]} and run `widemargin corpus fetch {name} --archive" in message
            assert nothing_kept(home)
            return caught.value

        return fails

    def test_no_network(self, monkeypatch, name, fails):
        use(monkeypatch, name, "http://127.0.0.1:9/gone")
        error = fails(StorageError, "http://127.0.0.1:9/gone could not be downloaded (")
        assert error.exit_code == 74

    def test_a_page_that_is_gone(self, serve, monkeypatch, name, fails):
        use(monkeypatch, name, f"{serve(b'')}/gone")
        fails(StorageError, "could not be downloaded (HTTP Error 404: Not Found)")

    def test_a_download_that_is_cut_off(self, serve, monkeypatch, name, fails):
        body = OFFICIAL[name]
        use(monkeypatch, name, serve(body, promised=1_000_000), documents=2)
        # Later releases of Python notice it themselves.
        reason = f"stopped after {len(body):,} of 1,000,000 bytes" if sys.version_info < (3, 13) else ""
        fails(StorageError, reason)

    def test_another_hash(self, serve, monkeypatch, name, fails):
        use(monkeypatch, name, serve(OFFICIAL[name]), documents=2, digest="sha256:" + "0" * 64)
        found = hashlib.sha256(OFFICIAL[name]).hexdigest()
        error = fails(DataError, f"not the expected archive; its sha256 is {found}, not {'0' * 64}.")
        assert error.exit_code == 65

    def test_each_address_says_why(self, serve, monkeypatch, name, fails):
        addresses = ("http://127.0.0.1:9/x", serve(b"altered"), f"{serve(b'')}/gone")
        use(monkeypatch, name, *addresses, digest="sha256:" + "0" * 64)
        error = fails(StorageError, "404")
        assert all(address in str(error) for address in addresses)

    def test_another_address_is_tried(self, home, serve, monkeypatch, name):
        good = OFFICIAL[name]
        digest = f"sha256:{hashlib.sha256(good).hexdigest()}"
        addresses = ("http://127.0.0.1:9/x", serve(b"altered"), serve(good))
        use(monkeypatch, name, *addresses, documents=2, digest=digest)
        fetch_corpus(name)
        assert len(load_corpus(name, None).train) == 2


def test_files_that_are_gone(home, monkeypatch):
    files = ("http://127.0.0.1:9/x",) * 2
    monkeypatch.setitem(RECIPES, "a5a", replace(RECIPES["a5a"], files=files))
    with pytest.raises(StorageError, match=r"a5a was not fetched.*yourself from https://www.csie.ntu.edu.tw"):
        fetch_corpus("a5a")
    assert nothing_kept(home)


@pytest.mark.parametrize("body", [b"no archive", OFFICIAL["webkb"][:-40], b""])
def test_a_damaged_archive_is_told(home, serve, monkeypatch, body):
    use(monkeypatch, "webkb", serve(body), documents=2)
    with pytest.raises(DataError, match="webkb: the archive is damaged"):
        fetch_corpus("webkb")
    assert nothing_kept(home)


def test_an_archive_with_other_contents_is_refused(home, serve, monkeypatch):
    use(monkeypatch, "webkb", serve(OFFICIAL["webkb"]))
    with pytest.raises(DataError, match="has 2 documents where the collection has 8,282"):
        fetch_corpus("webkb")
    assert nothing_kept(home)


def test_collections_without_an_address_say_how_to_get_them(home):
    with pytest.raises(
        UsageError, match=r"udhr cannot be fetched.*https://www.unicode.org/udhr/.*udhr.jsonl.xz"
    ):
        fetch_corpus("udhr")


def test_an_archive_that_was_got_by_hand(home, tmp_path, monkeypatch):
    body = OFFICIAL["ohsumed"]
    file = tmp_path / "ohsumed.tar.gz"
    use(monkeypatch, "ohsumed", documents=2, digest=f"sha256:{hashlib.sha256(body).hexdigest()}")
    with pytest.raises(MissingFileError, match="There is no file"):
        fetch_corpus("ohsumed", archive=file)
    file.write_bytes(body + b"!")
    with pytest.raises(DataError, match="its sha256 is"):
        fetch_corpus("ohsumed", archive=file)
    file.write_bytes(body)
    fetch_corpus("ohsumed", archive=file)
    assert load_corpus("ohsumed").test.texts == ["Other."]
    with pytest.raises(UsageError, match="Leave out --archive"):
        fetch_corpus("a5a", archive=file)


def test_collections_that_are_fetched_in_one_step():
    """Homes that people have used for decades; each has to be there for `corpus fetch` to be one step."""
    homes = {
        "reuters21578": "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
        "ohsumed": "http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",
        "imdb": "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        "imdb-full": "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        "20newsgroups": "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
    }
    assert {name: RECIPES[name].addresses[0] for name in homes} == homes


def test_recipes_are_of_known_collections_and_agree_with_them():
    for name, recipe in RECIPES.items():
        if name == "techtc100":
            assert recipe.documents is None  # about 150 pages of each of a hundred tasks
        else:
            assert recipe.documents == find_source(name).documents
        converted = bool(recipe.addresses) + bool(recipe.parts) + bool(recipe.how)
        assert converted == bool(recipe.convert) != bool(recipe.files)


def folder(path, files):
    """The files themselves, those of RCV1 compressed one by one, as they are downloaded."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".dat"):
            target.with_name(target.name + ".gz").write_bytes(gzip.compress(content.encode("latin-1")))
        else:
            target.write_bytes(content.encode("latin-1"))
    return path


@pytest.mark.parametrize("form", ["tar", "zip", "folder"])
class TestCollectionsThatAreGivenAsArchives:
    def given(self, form, files, path):
        if form == "folder":
            return folder(path / "files", files)
        archive = path / f"archive.{form}"
        encoded = {name: content.encode("latin-1") for name, content in files.items()}
        archive.write_bytes(tar(files) if form == "tar" else zipped(encoded))
        return archive

    def test_rcv1(self, home, monkeypatch, form):
        use(monkeypatch, "rcv1-v2", documents=4)
        fetch_corpus("rcv1-v2", archive=self.given(form, TOKENS, home))
        corpus = load_corpus("rcv1-v2")
        assert corpus.train.texts == ["recov recov excit bring", "uruguay"]
        assert corpus.train.labels == [("E11", "ECAT"), ()]
        assert corpus.test.labels == [("CCAT",), ("GCAT",)]
        assert load_corpus("rcv1-v2", "lyrl2004-pt0").test.ids == ["26151"]

    def test_ohsumed(self, home, monkeypatch, form):
        use(monkeypatch, "ohsumed-1991", documents=3)
        files = {"ohsumed.91": ABSTRACTS, "mtrees.bin": MESH}
        fetch_corpus("ohsumed-1991", archive=self.given(form, files, home))
        corpus = load_corpus("ohsumed-1991")
        assert corpus.train.ids == ["91000001", "91000003", "91000004"]
        assert corpus.train.texts[0] == "A title.\nAn abstract of two lines."
        assert corpus.train.labels == [("C08", "C20"), (), ("C08", "C16", "C20")]

    def test_techtc(self, home, form):
        fetch_corpus("techtc100", archive=self.given(form, TECHTC, home))
        found = tasks(load_corpus("techtc100", split=None).train)
        assert list(found) == ["Exp_1_2", "Exp_3_4"]
        assert found["Exp_1_2"].texts == ["Caf\xe9 page\nsecond", "other"] * 2
        assert set(found["Exp_3_4"].labels) == {("Exp_3_4/positive",), ("Exp_3_4/negative",)}

    @pytest.mark.parametrize(
        ("name", "files", "why"),
        [
            ("rcv1-v2", {"lyrl2004_tokens_train.dat": ".I 1\n.W\nx\n"}, "no rcv1-v2.topics.qrels"),
            ("rcv1-v2", {k: v for k, v in TOKENS.items() if "test" not in k}, "test_pt0"),
            ("rcv1-v2", TOKENS | {"rcv1-v2.topics.qrels": "E11 2286\n"}, "line 1: expected 'TOPIC ID 1'"),
            ("rcv1-v2", TOKENS | {"tokens/lyrl2004_tokens_train.dat": "stray\n"}, "before the first line"),
            ("ohsumed-1991", {"ohsumed.91": ABSTRACTS}, "no MeSH tree"),
            ("ohsumed-1991", {"mtrees.bin": MESH}, "no ohsumed.91"),
            ("techtc100", {"README": "x"}, "no folder Exp_A_B"),
            ("techtc100", {"Exp_1_2/all_pos.txt": PAGES}, "only the positive pages"),
        ],
    )
    def test_files_that_are_missing_or_damaged(self, home, form, name, files, why):
        with pytest.raises(DataError, match=re.escape(why)):
            fetch_corpus(name, archive=self.given(form, files, home))
        assert find_files(find_source(name)) is None


def test_several_files_are_downloaded_and_read_together(home, serve, monkeypatch):
    given = {
        f"http://x/{name.rpartition('/')[2]}.gz": serve(gzip.compress(content.encode()))
        for name, content in TOKENS.items()
    }
    download = fetching._download
    monkeypatch.setattr(
        fetching, "_download", lambda name, address, path: download(name, given[address], path)
    )
    use(monkeypatch, "rcv1-v2", documents=4, parts=tuple(given))
    fetch_corpus("rcv1-v2")
    assert load_corpus("rcv1-v2").train.ids == ["2286", "2287"]


@pytest.mark.parametrize("name", ["techtc100", "ohsumed-1991"])
def test_what_has_no_address_says_what_to_get(home, name):
    with pytest.raises(UsageError, match=rf"corpus fetch {name} --archive FOLDER"):
        fetch_corpus(name)


@pytest.mark.needs_corpus("reuters21578")
@pytest.mark.slow
def test_the_sgml_of_reuters_gives_the_records_of_the_collection():
    (path,) = find_files(find_source("reuters21578"))
    sgml = path.with_name("reuters21578-sgml.tar.xz")
    if not sgml.exists():
        pytest.skip("the SGML files are not on this machine")
    count = 0
    for ours, theirs in zip(archives.reuters(sgml), records(path), strict=True):
        assert ours == {key: theirs[key] for key in ours}
        count += 1
    assert count == 21_578


def encrypted():
    """The zip of SMS Spam with the bit set that says a member is encrypted."""
    body = bytearray(zipped({"SMSSpamCollection": "ham\thello\n"}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    return bytes(body)


def with_method(method):
    body = bytearray(zipped({"SMSSpamCollection": "ham\thello\n"}))
    body[8] = body[body.index(b"PK\x01\x02") + 10] = method
    return bytes(body)


def claiming(size):
    """A tar archive whose only file claims to have `size` bytes."""
    member = tarfile.TarInfo("webkb/course/cornell/page")
    member.size = size
    return member.tobuf()


WRONG = {
    "a list": ("clinc150", b'["a"]'),
    "a number": ("clinc150", b'{"train": 5}'),
    "no pairs": ("clinc150", b'{"train": [["a", "b", "c"]]}'),
    "no strings": ("clinc150", b'{"train": [[1, {"x": 2}]]}'),
    "null": ("clinc150", b"null"),
    "great depth": ("clinc150", b"[" * 100_000),
    "a huge number": ("clinc150", b'{"train": ' + b"9" * 10_000 + b"}"),
    "bytes that are not UTF-8": ("clinc150", b'{"train": [["\xff", "b"]]}'),
    "an encrypted zip": ("sms-spam", encrypted()),
    "an unknown compression": ("sms-spam", with_method(99)),
    "another zip": ("sms-spam", zipped({"other": "x"})),
    "a zip cut off": ("sms-spam", zipped({"SMSSpamCollection": "x" * 100})[:-30]),
    "a file that is too large": ("webkb", claiming(10**12)),
    "a size below nothing": ("webkb", claiming(0).replace(b"00000000000\0", b"-0000000001\0", 1)),
    "no bytes": ("webkb", b""),
    "another tar": ("reuters21578", tar({"x.sgm": "<REUTERS OLDID='1'>x</REUTERS>"})),
    "no number": ("reuters21578", tar({"x.sgm": STORIES.replace('NEWID="1"', 'NEWID="x"')})),
    "names without numbers": ("imdb", tar({"aclImdb/train/pos/x.txt": "x"})),
    "a review that is not UTF-8": ("imdb-full", tar({"aclImdb/train/pos/0_1.txt": "caf\xe9"})),
}


@pytest.mark.parametrize("case", WRONG)
def test_no_archive_is_an_internal_error(home, tmp_path_factory, monkeypatch, case):
    name, body = WRONG[case]
    use(monkeypatch, name, documents=1)
    archive = tmp_path_factory.mktemp("got") / "archive"
    archive.write_bytes(body)
    with pytest.raises(DataError, match=r"archive (is damaged, or not the expected one|has 0 documents)"):
        fetch_corpus(name, archive=archive)
    assert nothing_kept(home)


@pytest.mark.parametrize("name", ["reuters21578", "20newsgroups", "webkb", "ohsumed", "sms-spam", "clinc150"])
def test_archives_damaged_at_random(home, tmp_path, monkeypatch, name):
    generator = random.Random(name)
    use(monkeypatch, name, documents=10**6)
    for _ in range(40):
        body = bytearray(OFFICIAL[name])
        place = generator.randrange(len(body))
        body[place : place + generator.randint(1, 8)] = generator.randbytes(generator.randint(0, 8))
        (tmp_path / "archive").write_bytes(body)
        with pytest.raises(DataError):
            fetch_corpus(name, archive=tmp_path / "archive")


@pytest.mark.parametrize(
    "content",
    [b"[]\n", b"5\n", b'{"id": 1}\n', b"[" * 100_000, b"\xff\n", b'{"text": 5}\n'],
)
def test_records_of_another_kind(tmp_path, content):
    for name in ("reuters21578", "20newsgroups", "sms-spam", "clinc150", "udhr", "ohsumed", "webkb"):
        for file in find_source(name).files:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_bytes(lzma.compress(content))
        with pytest.raises(DataError, match=r"damaged"):
            load_corpus(name, data_home=tmp_path)

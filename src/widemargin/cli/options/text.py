"""From text to vectors: the options of `Vectorizer`, and what their words mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from widemargin.cli.options.given_vectors import GIVEN_VECTORS, beside_vectors, vector_files
from widemargin.cli.options.option import Option, train
from widemargin.errors import MissingFileError, StorageError, UsageError
from widemargin.text.pairs import parse_pairs
from widemargin.text.thesaurus import read_thesaurus
from widemargin.weight.smart import canonical

_WEIGHTING = (
    "Weights of the terms: tfidf, counts, binary (1 where a term occurs), or three letters of the SMART "
    "system, such as tfc. tfidf is ltc: 1 + log of the term frequency, inverse document frequency, length 1."
)
_IDF_POWER = "Power of the inverse document frequency: below 1, rare terms count less."
_STOP_WORDS = "Stop words to leave out: a list, or a file with one word per line."
_MIN_COUNT = "Leave out terms that occur less often in all documents together."
_UNITS, _NGRAMS = "What a term is made of.", "Lengths of the terms, in units."
_STEMMER = "porter, a Snowball language such as english or german, a lemmatizer such as lemma:en, or none."


_EVERY = "train label compare"


def both(spelling: str, help: str, kind: Any = str, default: Any = None, **more: Any) -> Option:
    """An option of `train` and `label`."""
    return Option(spelling, help, "train label", kind, default, **more)


TEXT = (
    train(
        "--weighting NAME",
        _WEIGHTING,
        shown="chosen by --tune, or ltc; winnow variants that use counts: sxx; perceptron, winnow, "
        "large-margin-winnow, dual-svm, boosted-trees: bxx; "
        "chi-square-network: txa; naive-bayes, profiles: txx",
    ),
    Option("--weighting NAME", _WEIGHTING, "label", shown="ltc; naive-bayes: txx"),
    train("--idf-power P", _IDF_POWER, float, shown="chosen by --tune, or 1"),
    Option("--idf-power P", _IDF_POWER, "label", float, 1.0),
    both(
        "--tokens alnum|unicode",
        "What a word is: a run of letters and digits, where every number is one token, or a Unicode word.",
        default="alnum",
    ),
    Option(
        "--token-pattern REGEX",
        "What a word is: a regular expression as in Python, such as '[a-z]+', for case-folded texts. It is "
        "compiled, so without look-arounds and backreferences.",
        _EVERY,
        shown="--tokens",
    ),
    Option(
        "--ignore-pattern REGEX",
        "Leave out what matches a regular expression before words are found, such as '<[^>]*>'.",
        _EVERY,
        shown="none",
    ),
    train(
        "--units words|chars|chars_in_words|bytes", _UNITS, shown="words; chi-square-network, profiles: chars"
    ),
    Option("--units words|chars|chars_in_words|bytes", _UNITS, "label", default="words"),
    train("--ngrams N|M-N", _NGRAMS, shown="1; chi-square-network: 3; profiles: 1-4", common=True),
    Option("--ngrams N|M-N", _NGRAMS, "label", default="1", common=True),
    Option(
        "--blocks NAMES",
        "Kinds of terms with vocabularies of their own, each weighted alone: words, bigrams, chars (3 to "
        "5 characters within words), title, subject, first-line, and columns of --text. A name may be "
        "followed by lengths of n-grams, a weight and the fewest documents of a term: "
        "words,bigrams:0.5,chars:2-4:0.5:min=2. The block vectors adds document vectors that are learned "
        "from the documents themselves; they help most where few documents have labels: words,vectors, or "
        "vectors:dims=200:0.5 for dimensions and weight.",
        _EVERY,
        shown="none: --units and --ngrams",
        common=True,
    ),
    *GIVEN_VECTORS,
    Option(
        "--min-df N|FRACTION",
        "Leave out terms that occur in fewer documents: a number, or a fraction such as 0.01.",
        _EVERY,
        default="1",
    ),
    Option("--max-df N|FRACTION", "Leave out terms that occur in more documents.", _EVERY, default="1.0"),
    Option("--min-count N", _MIN_COUNT, "train compare", int, shown="1; profiles: 2", least=1),
    Option("--min-count N", _MIN_COUNT, "label", int, 1, least=1),
    both("--max-features N", "Keep only the N most frequent terms.", int, shown="all", least=1),
    train("--stop-words freewais|FILE|none", _STOP_WORDS, shown="chosen by --tune, or none", common=True),
    Option("--stop-words freewais|FILE|none", _STOP_WORDS, "label compare", default="none"),
    train("--stemmer NAME", _STEMMER, shown="chosen by --tune, or none", common=True),
    Option("--stemmer NAME", _STEMMER, "label compare", default="none"),
    Option(
        "--phrases RATIO",
        "Add statistical phrases: n-grams whose words occur together more often than by chance, of two words "
        "unless --ngrams is longer. RATIO is the smallest log-likelihood ratio; independent words exceed "
        "10.83 once in a thousand times.",
        _EVERY,
        float,
        shown="off",
    ),
    Option(
        "--pairs after:K|near:K",
        "Add pairs of words with at most K words between them: in their order (after:3), or in either order "
        "(near:3). A pair must occur in 2 documents; near:3:min=5: in 5.",
        _EVERY,
        shown="off",
    ),
    Option(
        "--thesaurus FILE",
        "Read words and phrases as concepts. A line of FILE is `car: automobile, motor car`, or a word, a "
        "tab and its concept.",
        _EVERY,
        shown="none",
    ),
    both("--hashed N", "Hash terms to N columns instead of keeping a vocabulary.", int, shown="off", least=1),
    both(
        "--features SCORE:N",
        "Learn from fewer features: the N best terms by ig, gini, chi2, odds, bns or df (ig:5000), a "
        "percentage of them (ig:10%), or those above a least score (df:min=3). :combine=max, average, sum, "
        "round-robin or joint combines the labels. subspace, ridge, weighted or uniform sample about N "
        "terms at random (subspace:2000:rank=100, ridge:2000:lambda=0.4). lsi, clusters or label-clusters "
        "make N new features of all terms: "
        "the top singular vectors (lsi:200), clusters of terms of the same documents (clusters:500) or of "
        "the same labels (label-clusters:500).",
        shown="all",
        common=True,
    ),
)


def vectorizing(given: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of `Vectorizer`; `defaults` are those of the learner for missing options."""
    usual = {"units": "words", "ngram_range": (1, 1), "weighting": "ltc", "min_count": 1, **defaults}
    if given.blocks is not None:
        usual |= {"units": "words", "ngram_range": (1, 1)}  # those of a learner are of no use to blocks
    chosen = {name: getattr(given, name, None) or value for name, value in usual.items()}
    terms = {
        **chosen,
        "weighting": canonical(chosen["weighting"]) or "txx",
        "tokens": given.tokens,
        **patterns(given),
        "idf_power": 1.0 if given.idf_power is None else given.idf_power,
        "ngram_range": ngram_range(given.ngrams) if given.ngrams else usual["ngram_range"],
        **blocks_and_columns(given),
        "min_df": frequency("--min-df", given.min_df),
        "max_df": frequency("--max-df", given.max_df),
        "max_features": given.max_features,
        "stop_words": stop_word_list(given.stop_words),
        "stemmer": None if given.stemmer == "none" else given.stemmer,
        **several_words(given),
        "n_hashed": given.hashed,
        "n_jobs": given.threads,
    }
    return beside_vectors(terms, getattr(given, "vectors", None))


def patterns(given: Any) -> dict[str, Any]:
    """The regular expressions of words and of what is left out, checked."""
    from widemargin.text.patterns import compile_pattern

    found: dict[str, Any] = {}
    for name, option in (("token_pattern", "--token-pattern"), ("ignore_pattern", "--ignore-pattern")):
        found[name] = getattr(given, name)
        if found[name] is not None:
            compile_pattern(found[name], option)
    return found


def blocks_and_columns(given: Any) -> dict[str, Any]:
    """The parameters for blocks, and for texts of several columns."""
    columns = tuple(given.text) if given.text and len(given.text) > 1 else None
    if given.blocks is None:
        return {"blocks": None, "fields": columns}
    from widemargin.weight.blocks import parse_blocks

    if getattr(given, "units", None) not in (None, "words") or getattr(given, "ngrams", None) not in (
        None,
        "1",
    ):
        raise UsageError("Use either --blocks or --units and --ngrams: a block has its own.")
    try:
        return {"blocks": parse_blocks(given.blocks, columns), "fields": columns}
    except UsageError as error:
        raise UsageError(f"--blocks {given.blocks}: {error}") from None


def several_words(given: Any) -> dict[str, Any]:
    """The parameters for phrases, pairs and concepts."""
    parse_pairs(given.pairs)  # a mistake is told before anything is read
    thesaurus = None if given.thesaurus is None else read_thesaurus(given.thesaurus)
    return {"phrases": given.phrases, "pairs": given.pairs, "thesaurus": thesaurus}


def word_files(given: Any) -> list[str | None]:
    """The files that text options name, which nothing may be written over."""
    return [stop_word_file(given.stop_words), given.thesaurus, *vector_files(getattr(given, "vectors", None))]


def ngram_range(text: str) -> tuple[int, int]:
    """The shortest and the longest length."""
    first, dash, last = text.partition("-")
    try:
        lengths = int(first), int(last if dash else first)
    except ValueError:
        lengths = (0, 0)
    if not 1 <= lengths[0] <= lengths[1]:
        raise UsageError(f"--ngrams {text}: expected a length or a range of lengths, such as 2 or 1-2.")
    return lengths


def frequency(name: str, text: str) -> int | float:
    """A number of documents, or a fraction of them."""
    try:
        value = int(text)
    except ValueError:
        try:
            share = float(text)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UsageError(
                f"{name} {text}: expected a number of documents or a fraction from 0.0 to 1.0."
            ) from None
        return share
    if value < 0:
        raise UsageError(f"{name} {text}: expected a number of documents from 0 on.")
    return value


def stop_word_file(text: str | None) -> str | None:
    """The file that --stop-words names, if it names one."""
    return None if text in (None, "none", "freewais") else text


def stop_word_list(text: str | None) -> str | list[str] | None:
    """The name of a list, or the words of a file, one per line."""
    if text in (None, "none"):
        return None
    if text == "freewais":
        return text
    try:
        return Path(text).read_text(encoding="utf-8").split()
    except FileNotFoundError as error:
        raise MissingFileError(
            f"--stop-words {text}: there is no such file, and the only list is freewais."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"--stop-words {text}: {error}.") from error

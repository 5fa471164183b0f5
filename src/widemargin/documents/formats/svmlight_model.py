"""SVM-light's model files: ten lines about the kernel and the training, the threshold, then support vectors.

    SVM-light Version V6.02
    2 # kernel type
    3 # kernel parameter -d
    0.5 # kernel parameter -g
    1 # kernel parameter -s
    1 # kernel parameter -r
    empty# kernel parameter -u
    9947 # highest feature index
    2000 # number of training documents
    879 # number of support vectors plus 1
    0.99409391 # threshold b, each following line is a SV (starting with alpha*y)
    -0.0056 6:0.0198 15:0.0339 #

The score of x is the sum of ``alpha_i y_i K(x_i, x)`` over the support vectors, minus b; positive means the
class +1. The kernel types: 0 linear ``a.b``, 1 polynomial ``(s a.b + r)^d``, 2 radial ``exp(-g |a - b|^2)``,
3 sigmoid ``tanh(s a.b + r)``, 4 a function that the user compiled into the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from widemargin._files import replacing
from widemargin.documents.formats.svmlight import NUMBER
from widemargin.documents.sources.byte_source import ByteSource
from widemargin.documents.wording import shown
from widemargin.errors import DataError

if TYPE_CHECKING:
    import scipy.sparse as sp

MAGIC = b"SVM-light Version "
KERNELS = ("linear", "poly", "rbf", "sigmoid", "custom")
VERSION = "V6.02"
_NO_OPTION = "empty"  # what SVM-light writes for a -u that was not given
_HEADER = (
    "kernel type",
    "kernel parameter -d",
    "kernel parameter -g",
    "kernel parameter -s",
    "kernel parameter -r",
    "kernel parameter -u",
    "highest feature index",
    "number of training documents",
    "number of support vectors plus 1",
    "threshold b",
)
# The query, slack and cost of an example may come before its features; the model does not use them.
_SUPPORT_VECTOR = re.compile(
    rb"[ \t]*(" + NUMBER + rb")((?:[ \t]+(?:qid|sid|cost):\S+)*+)((?:[ \t]+[0-9]+:" + NUMBER + rb")*+)"
    rb"[ \t\r\n]*(?:#.*)?",
    re.DOTALL,
)
_WHOLE = re.compile(rb"[-+]?[0-9]+")
_LARGEST = 2**31 - 1
_CURE = "Write the model again with svm_learn."

T = TypeVar("T")


@dataclass(eq=False)
class SvmLightModel:
    """The content of an SVM-light model file.

    Attributes
    ----------
    kernel : "linear", "poly", "rbf", "sigmoid" or "custom"
    coefficients : float64 (n,), alpha_i y_i of the support vectors
    support_vectors : CSR (n, features); column j is the feature numbered j + 1
    threshold : b
    degree, gamma, scale, offset : the kernel's parameters -d, -g, -s and -r
    option : the string -u that SVM-light passes to a user-defined kernel
    n_documents : number of training examples; 0 if unknown
    version : the program's version
    """

    kernel: str
    coefficients: NDArray[np.float64]
    support_vectors: sp.csr_array
    threshold: float
    degree: int = 3
    gamma: float = 1.0
    scale: float = 1.0
    offset: float = 1.0
    option: str = _NO_OPTION
    n_documents: int = 0
    version: str = VERSION

    @property
    def n_features(self) -> int:
        """The highest feature number."""
        return int(self.support_vectors.shape[1])

    @property
    def kernel_parameters(self) -> dict[str, Any]:
        """The parameters that apply to the kernel, by SVM-light's letters."""
        letters: dict[str, dict[str, Any]] = {
            "poly": {"d": self.degree, "s": self.scale, "r": self.offset},
            "rbf": {"g": self.gamma},
            "sigmoid": {"s": self.scale, "r": self.offset},
            "custom": {"u": self.option},
        }
        return letters.get(self.kernel, {})


def is_svmlight_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a model file of SVM-light."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_svmlight_model(source: str | Path) -> SvmLightModel:
    """Read a model file that SVM-light wrote (also .gz, .xz, .zst; "-" is standard input).

    Values keep double precision; SVM-light itself uses single precision.
    """
    stream = ByteSource(source)
    try:
        return _Reader(stream.lines(), stream.name).model()
    finally:
        stream.close()


def write_svmlight_model(model: SvmLightModel, path: str | Path) -> None:
    """Write a model file that `svm_classify` reads; `read_svmlight_model` gives the same numbers back."""
    X = model.support_vectors
    indptr = X.indptr.tolist()
    features = (X.indices.astype(np.int64) + 1).tolist()
    head = (
        f"{KERNELS.index(model.kernel)} # kernel type\n"
        f"{model.degree} # kernel parameter -d \n"
        f"{_number(model.gamma)} # kernel parameter -g \n"
        f"{_number(model.scale)} # kernel parameter -s \n"
        f"{_number(model.offset)} # kernel parameter -r \n"
        f"{model.option or _NO_OPTION}# kernel parameter -u \n"
        f"{model.n_features} # highest feature index \n"
        f"{model.n_documents} # number of training documents \n"
        f"{len(model.coefficients) + 1} # number of support vectors plus 1 \n"
        f"{_number(model.threshold)} # threshold b, each following line is a SV (starting with alpha*y)\n"
    )
    with replacing(path) as file:
        file.write(MAGIC + f"{model.version}\n{head}".encode())
        for i, coefficient in enumerate(model.coefficients.tolist()):
            row = slice(indptr[i], indptr[i + 1])
            pairs = "".join(
                f"{j}:{_number(value)} " for j, value in zip(features[row], X.data[row], strict=True)
            )
            file.write(f"{_number(coefficient)} {pairs}#\n".encode())


class _Reader:
    """The lines of a model file in order, and errors that name a line."""

    def __init__(self, lines: Iterator[bytes], name: str) -> None:
        self._lines = lines
        self._name = name
        self._number = 0

    def model(self) -> SvmLightModel:
        first = self._next("the line `SVM-light Version V6.02`")
        if not first.startswith(MAGIC):
            found = shown(first) or "an empty line"
            self._fail(f"found {found}; an SVM-light model begins with `SVM-light Version`.")
        version = first[len(MAGIC) :].decode("utf-8", "replace").strip()
        kernel = self._value(_HEADER[0], _whole, "a whole number from 0 to 4")
        if not 0 <= kernel < len(KERNELS):
            self._fail(f"the kernel type is {kernel}; SVM-light has the types 0 to 4. {_CURE}")
        degree = self._value(_HEADER[1], _whole, "a whole number")
        gamma, scale, offset = (self._value(name, _finite, "a number") for name in _HEADER[2:5])
        custom = self._next(f"the {_HEADER[5]}").partition(b"#")[0]
        option = custom.decode("utf-8", "replace").strip("\r\n") or _NO_OPTION
        n_features = self._count(_HEADER[6], 0)
        n_documents = self._count(_HEADER[7], 0)
        n_vectors = self._count(_HEADER[8], 1) - 1
        threshold = self._value(_HEADER[9], _finite, "a number")
        coefficients, X = self._support_vectors(n_vectors, n_features)
        return SvmLightModel(
            KERNELS[kernel],
            coefficients,
            X,
            threshold,
            degree,
            gamma,
            scale,
            offset,
            option,
            n_documents,
            version,
        )

    def _support_vectors(self, n: int, n_features: int) -> tuple[NDArray[np.float64], sp.csr_array]:
        coefficients: list[float] = []
        lengths = [0]
        indices: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        values: list[NDArray[np.float64]] = [np.empty(0)]
        for i in range(n):
            line = self._next(f"support vector {i + 1} of {n}")
            match = _SUPPORT_VECTOR.fullmatch(line)
            if match is None:
                self._fail(
                    f"found {shown(line) or 'an empty line'}; expected `alpha*y feature:value ... #`. {_CURE}"
                )
            numbers = np.fromstring(match[3].replace(b":", b" ").decode("ascii"), dtype=np.float64, sep=" ")
            features, row = numbers[::2], numbers[1::2]
            coefficients.append(float(match[1]))
            self._check(coefficients[-1], features, row, n_features)
            indices.append(features.astype(np.int32) - np.int32(1))
            values.append(row)
            lengths.append(len(row))
        for line in self._lines:
            self._number += 1
            if line.strip():
                self._fail(f"found a line after the {n} support vectors that line 10 states. {_CURE}")
        import scipy.sparse as sp

        parts = (np.concatenate(values), np.concatenate(indices), np.cumsum(lengths))
        return np.array(coefficients, dtype=np.float64), sp.csr_array(parts, shape=(n, n_features))

    def _check(
        self, coefficient: float, features: NDArray[np.float64], row: NDArray[np.float64], n_features: int
    ) -> None:
        if not np.isfinite(coefficient) or not np.isfinite(row).all():
            self._fail(f"contains a number beyond double precision. {_CURE}")
        if not len(features):
            return
        if features.min() < 1 or (np.diff(features) <= 0).any():
            self._fail("the features are not numbers from 1 in ascending order. Sort them by number.")
        if features.max() > n_features:
            self._fail(
                f"feature {features.max():.0f} is above the highest feature index, {n_features}, that line 8 "
                f"states. Correct line 8."
            )

    def _count(self, name: str, least: int) -> int:
        found = self._value(name, _whole, "a whole number")
        if not least <= found <= _LARGEST:
            self._fail(f"the {name} is {found}; expected a number from {least} to 2**31 - 1. {_CURE}")
        return found

    def _value(self, name: str, convert: Callable[[bytes], T | None], expected: str) -> T:
        """The text before the comment of the next line."""
        text = self._next(f"the {name}").partition(b"#")[0].strip()
        value = convert(text)
        if value is None:
            self._fail(f"the {name} is {shown(text) if text else 'missing'}; expected {expected}. {_CURE}")
        return value

    def _next(self, what: str) -> bytes:
        line = next(self._lines, None)
        if line is None:
            raise DataError(
                f"{self._name}: ends after line {self._number}, before {what}. Get a complete copy."
            )
        self._number += 1
        return line

    def _fail(self, message: str) -> NoReturn:
        raise DataError(f"{self._name}, line {self._number}: {message}")


def _number(value: float) -> str:
    """The shortest number that reads back as the same, as short in single precision for float32."""
    return str(value).removesuffix(".0")


def _whole(text: bytes) -> int | None:
    return int(text) if _WHOLE.fullmatch(text) and len(text) < 20 else None


def _finite(text: bytes) -> float | None:
    value = float(text) if re.fullmatch(NUMBER, text) else np.inf
    return value if np.isfinite(value) else None

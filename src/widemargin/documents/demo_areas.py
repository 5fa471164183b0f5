"""The modules that the demo corpus reads, grouped by area.

Importing them opens no window, prints nothing and does not use the network. Modules that a platform or
release lacks are skipped.
"""

from __future__ import annotations

_MODULES = {
    "text": (
        "string re textwrap difflib unicodedata gettext locale codecs stringprep pprint reprlib html "
        "html.parser numpy.char numpy.strings"
    ),
    "files": (
        "os os.path pathlib shutil tempfile glob fnmatch fileinput filecmp io linecache netrc mmap "
        "numpy.lib.npyio numpy.lib.format"
    ),
    "compression": "zipfile tarfile gzip bz2 lzma zlib binascii base64 quopri zipimport",
    "network": (
        "socket ssl socketserver select selectors ipaddress ftplib smtplib imaplib poplib nntplib telnetlib"
    ),
    "web": (
        "http.client http.server http.cookies http.cookiejar urllib.request urllib.parse urllib.error "
        "urllib.robotparser urllib.response xmlrpc.client xmlrpc.server wsgiref.util wsgiref.headers "
        "wsgiref.simple_server wsgiref.handlers wsgiref.validate cgi webbrowser"
    ),
    "email": (
        "email.message email.parser email.feedparser email.generator email.policy email.header "
        "email.headerregistry email.charset email.utils email.encoders email.contentmanager "
        "email.mime.text email.mime.base email.mime.image email.mime.multipart email.errors "
        "email.iterators email.quoprimime email.base64mime email._policybase email._header_value_parser "
        "mailbox mimetypes"
    ),
    "concurrency": (
        "threading queue subprocess signal sched contextvars concurrent.futures concurrent.futures.thread "
        "concurrent.futures.process multiprocessing.context multiprocessing.managers multiprocessing.pool "
        "multiprocessing.process multiprocessing.queues multiprocessing.connection "
        "multiprocessing.shared_memory multiprocessing.sharedctypes multiprocessing.synchronize "
        "multiprocessing.util multiprocessing.resource_tracker resource"
    ),
    "asyncio": (
        "asyncio.base_events asyncio.events asyncio.futures asyncio.locks asyncio.protocols "
        "asyncio.queues asyncio.runners asyncio.streams asyncio.subprocess asyncio.tasks "
        "asyncio.taskgroups asyncio.timeouts asyncio.transports asyncio.selector_events asyncio.sslproto "
        "asyncio.unix_events asyncio.exceptions asyncio.coroutines asyncio.threads asyncio.barrier "
        "asyncio.base_subprocess asyncio.trsock asyncio.staggered"
    ),
    "dates": "datetime _pydatetime time calendar zoneinfo",
    "numbers": "math cmath decimal _pydecimal fractions random statistics numbers",
    "data structures": (
        "builtins collections collections.abc heapq bisect array itertools functools operator copy enum "
        "dataclasses weakref types graphlib struct contextlib abc typing"
    ),
    "data formats": (
        "json json.decoder json.encoder csv configparser plistlib tomllib xml.dom.minidom xml.dom.pulldom "
        "xml.dom.expatbuilder xml.dom xml.etree.ElementTree xml.etree.ElementPath xml.sax xml.sax.handler "
        "xml.sax.xmlreader xml.sax.saxutils xml.sax.expatreader pickle pickletools shelve dbm dbm.dumb "
        "sqlite3 marshal xdrlib"
    ),
    "testing": (
        "unittest.case unittest.loader unittest.main unittest.mock unittest.result unittest.runner "
        "unittest.suite unittest.util unittest.signals unittest.async_case doctest numpy.testing "
        "numpy.testing._private.utils"
    ),
    "debugging": (
        "pdb bdb cmd code codeop traceback trace cProfile profile pstats timeit tracemalloc gc "
        "faulthandler warnings logging logging.handlers logging.config sys atexit"
    ),
    "language tools": (
        "ast tokenize token dis inspect importlib importlib.abc importlib.machinery importlib.resources "
        "importlib.util importlib.metadata importlib._bootstrap importlib._bootstrap_external pkgutil "
        "runpy symtable compileall py_compile pyclbr tabnanny modulefinder pydoc zipapp venv sysconfig "
        "site platform opcode"
    ),
    "numpy arrays": (
        "numpy numpy.lib numpy.lib.stride_tricks numpy.lib.recfunctions numpy.lib.array_utils "
        "numpy.lib.mixins numpy.lib.scimath numpy.rec"
    ),
    "numpy.ma": "numpy.ma numpy.ma.core numpy.ma.extras",
    "numpy.polynomial": (
        "numpy.polynomial.chebyshev numpy.polynomial.hermite numpy.polynomial.hermite_e "
        "numpy.polynomial.laguerre numpy.polynomial.legendre numpy.polynomial.polynomial "
        "numpy.polynomial.polyutils numpy.polynomial._polybase"
    ),
    "numpy.random": "numpy.random",
    "fourier transforms": "numpy.fft scipy.fft scipy.fftpack",
    "linear algebra": (
        "numpy.linalg scipy.linalg scipy.linalg.interpolative scipy.linalg.blas scipy.linalg.lapack"
    ),
    "scipy.stats": (
        "scipy.stats scipy.stats.qmc scipy.stats.mstats scipy.stats.contingency scipy.stats.sampling"
    ),
    "scipy.optimize": "scipy.optimize",
    "scipy.signal": "scipy.signal scipy.signal.windows",
    "scipy.sparse": "scipy.sparse scipy.sparse.linalg scipy.sparse.csgraph",
    "scipy.special": "scipy.special scipy.special.cython_special",
    "integration and interpolation": "scipy.integrate scipy.interpolate",
    "scipy.ndimage": "scipy.ndimage",
    "distances and clusters": (
        "scipy.spatial scipy.spatial.distance scipy.spatial.transform scipy.cluster.hierarchy "
        "scipy.cluster.vq"
    ),
}

AREAS = {area: tuple(names.split()) for area, names in _MODULES.items()}

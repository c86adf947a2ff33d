"""Finding the file of a real data set: a folder of yours, the cache, or a checked download.

A file is looked for under its name in the folder that ``OKSPCA_DATA`` names, then in the cache
(``okspca`` in ``XDG_CACHE_HOME``, or in ``~/.cache``), and then, where a public address is known,
it is downloaded into the cache.  Its SHA-256 must be the one written down here.
"""

import gzip
import hashlib
import io
import os
import urllib.request
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from okspca import outputs

TIMEOUT_SECONDS = 60.0
#: Checked by its digest already; another process may have fetched the same meanwhile.
DOWNLOADED = outputs.Kind("a data file", lambda _: True)


class DataFileError(OSError):
    """A data file is missing or is not the one it should be; the message says what to do.

    Examples
    --------
    >>> issubclass(DataFileError, OSError)
    True
    """


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes
    ----------
    name : str
        Name in the folder or cache.
    sha256 : str
        Digest of its contents.
    advice : str
        Where people can get it.
    url : str or None
        Where it can be downloaded, if anywhere.
    member : str or None
        Name inside the archive that is downloaded.
    digest_inside : bool
        Whether the digest is that of the contents of a gzip file, which may hold a name and a date
        besides.

    Examples
    --------
    >>> DataFile("rows.csv", "0" * 64, "Ask the author.").name
    'rows.csv'
    """

    name: str
    sha256: str
    advice: str
    url: str | None = None
    member: str | None = None
    digest_inside: bool = False


def folders() -> list[Path]:
    """Where files are looked for, in this order."""
    named = os.environ.get("OKSPCA_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "okspca"
    return [*([Path(named)] if named else []), cache]


def find(*files: DataFile, download: bool = True) -> tuple[DataFile, Path]:
    """Return the first of some equivalent files that is there, or download one of them.

    Parameters
    ----------
    *files : DataFile
        Different forms of the same data, the preferred first.
    download : bool
        Whether the network may be used.
    """
    for file in files:
        for folder in folders():
            path = folder / file.name
            if path.is_file():
                _check(path.read_bytes(), file, path)
                return file, path
    failure = ""
    for file in files:
        if download and file.url is not None:
            try:
                return file, _download(file)
            except OSError as error:
                failure = f" (The download from {file.url} failed: {error}.)"
    names = " or ".join(file.name for file in files)
    places = " or ".join(str(folder) for folder in folders())
    message = f"{names} was not found. {files[0].advice} Put it into {places}.{failure}"
    raise DataFileError(message)


def _check(contents: bytes, file: DataFile, origin: object) -> None:
    """Raise where the contents are not the ones that are known."""
    digest = hashlib.sha256(_inside(contents) if file.digest_inside else contents).hexdigest()
    if digest != file.sha256:
        message = (
            f"{origin} has SHA-256 {digest}, but {file.name} should have {file.sha256}: it is "
            f"damaged or another version. {file.advice}"
        )
        raise DataFileError(message)


def _inside(contents: bytes) -> bytes:
    """Contents of a gzip file; as they are where it is none, so that its digest is another."""
    try:
        return gzip.decompress(contents)
    except (OSError, EOFError, zlib.error):
        return contents


def _download(file: DataFile) -> Path:
    """Fetch a file into the cache; what is wrong never gets there."""
    assert file.url is not None
    with urllib.request.urlopen(file.url, timeout=TIMEOUT_SECONDS) as answer:
        contents: bytes = answer.read()
    if file.member is not None:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            contents = archive.read(file.member)
    _check(contents, file, file.url)
    path = folders()[-1] / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs.write(path, contents, DOWNLOADED)
    return path

"""The login of web addresses of a cluster with Kerberos: SPNEGO (RFC 4559), by the system's GSSAPI library and its tickets.

A server that wants a login answers 401 and `WWW-Authenticate: Negotiate`; the request goes again with a token for HTTP@HOST,
made of the ticket that `kinit` got (or of a keytab, $KRB5_CLIENT_KTNAME). Hadoop takes one token and asks for no more. The
server's own proof is not looked at: over plain http it would protect nothing, and https has certificates.

    opener = urllib.request.build_opener(Negotiating())
    session.auth = negotiate                               a session of requests

MIT Kerberos's library (libgssapi_krb5.so.2), which Debian and Red Hat have wherever curl or ssh is, is loaded when a server
asks. Not here: what is asked of the servers, Hadoop's own protocol (its client logs in by itself).
"""

from __future__ import annotations

import base64
import ctypes
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_void_p
from typing import IO, Any

from ..errors import Limitation
from .hadoop_conf import HadoopConf, hadoop_user

LIBRARY = "libgssapi_krb5.so.2"
_KINIT = "get a ticket with kinit, or name a keytab in KRB5_CLIENT_KTNAME; `klist` shows what there is"
_FAILED = 0xFFFF0000  # what is below these bits is no error: it would look at the server's answer, too
_GSS_CODE, _MECHANISM_CODE = 1, 2
_SPNEGO, _HOST_SERVICE = b"\x2b\x06\x01\x05\x05\x02", b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"


class LoginFailed(Limitation):
    """There is no login: HD635."""

    def __init__(self, why: str, help: str = _KINIT) -> None:
        super().__init__(f"the cluster wants a login by Kerberos: {why}", code="HD635", help=help)


class _Buffer(ctypes.Structure):
    _fields_ = [("length", c_size_t), ("value", c_void_p)]

    def taken(self) -> bytes:
        return ctypes.string_at(self.value, self.length) if self.value else b""


class _Oid(ctypes.Structure):
    _fields_ = [("length", c_uint32), ("elements", c_char_p)]


def _oid(data: bytes) -> Any:
    return byref(_Oid(len(data), data))


class _Gss:
    """The library. Raises LoginFailed: it is not there."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise LoginFailed(str(error), "Debian, Ubuntu: apt install libgssapi-krb5-2; Red Hat: krb5-libs") from None

    def call(self, name: str, *arguments: Any) -> None:
        """A function whose first argument is the mechanism's status. Raises LoginFailed with both statuses' texts."""
        minor = c_uint32()
        function = getattr(self._library, name)
        function.restype = c_uint32
        major = function(byref(minor), *arguments)
        if major & _FAILED:
            texts = [self._text(major, _GSS_CODE), self._text(minor.value, _MECHANISM_CODE) if minor.value else ""]
            raise LoginFailed(": ".join(filter(None, texts)))

    def _text(self, status: int, kind: int) -> str:
        minor, more, buffer = c_uint32(), c_uint32(), _Buffer()
        self._library.gss_display_status(byref(minor), c_uint32(status), kind, None, byref(more), byref(buffer))
        try:
            return buffer.taken().decode("utf-8", "replace")
        finally:
            self._library.gss_release_buffer(byref(minor), byref(buffer))

    @contextmanager
    def freed(self, what: Any, by: str) -> Iterator[Any]:
        """Something that the library makes and takes back."""
        try:
            yield what
        finally:
            getattr(self._library, by)(byref(c_uint32()), byref(what), *([None] if by == "gss_delete_sec_context" else []))


def token(host: str) -> str:
    """What shows the web server of this host who we are, for one request. Raises LoginFailed: no ticket, no such server."""
    gss = _Gss()
    service = f"HTTP@{host}".encode()
    given = _Buffer(len(service), ctypes.cast(c_char_p(service), c_void_p))
    with (gss.freed(c_void_p(), "gss_release_name") as name, gss.freed(c_void_p(), "gss_delete_sec_context") as context,
          gss.freed(_Buffer(), "gss_release_buffer") as said):
        gss.call("gss_import_name", byref(given), _oid(_HOST_SERVICE), byref(name))
        gss.call("gss_init_sec_context", None, byref(context), name, _oid(_SPNEGO), c_uint32(0), c_uint32(0), None, None,
                 None, byref(said), None, None)
        return base64.b64encode(said.taken()).decode()


def user() -> str:
    """The first part of our ticket's name, as in alice of alice@EXAMPLE.COM. Raises LoginFailed: there is none."""
    gss = _Gss()
    with (gss.freed(c_void_p(), "gss_release_name") as name, gss.freed(_Buffer(), "gss_release_buffer") as said):
        gss.call("gss_inquire_cred", None, byref(name), None, None, None)
        gss.call("gss_display_name", name, byref(said), None)
        whole: str = said.taken().decode("utf-8", "surrogateescape")
        return whole.partition("@")[0].partition("/")[0]


def user_of(conf: HadoopConf) -> str:
    """Who we are to a cluster. Raises LoginFailed: it has Kerberos, and we have no ticket."""
    return user() if conf.secure else hadoop_user()


def offered(headers: Any) -> bool:
    """Whether a server that answered 401 takes such a login. headers: `get_all` or `get`, as of urllib or requests."""
    said = headers.get_all("WWW-Authenticate") if hasattr(headers, "get_all") else [headers.get("WWW-Authenticate")]
    return any(word.strip().lower().startswith("negotiate") for line in said or () if line for word in line.split(","))


class Negotiating(urllib.request.BaseHandler):
    """For an opener of urllib. A login that fails is a URLError, whose text has `status 401`."""

    def http_error_401(
        self, request: urllib.request.Request, answer: IO[bytes], code: int, message: str, headers: Any,
    ) -> Any:
        """The answer to the same request with a token; None: the server wants another login, or does not take ours."""
        if request.has_header("Authorization") or not offered(headers):
            return None
        try:
            login = f"Negotiate {token(urllib.parse.urlsplit(request.full_url).hostname or '')}"
        except LoginFailed as failed:
            raise urllib.error.URLError(f"status 401: {failed.message}") from None
        answer.close()
        request.add_unredirected_header("Authorization", login)
        return self.parent.open(request, timeout=request.timeout)


def negotiate(request: Any) -> Any:
    """For a session of requests: its `auth`. Raises LoginFailed."""
    request.register_hook("response", _again)
    return request


def _again(response: Any, **how: Any) -> Any:
    """The answer to the same request with a token. Where the request had a body that is a stream it was not answered 401:
    that of a DataNode, whose address has a token of its own."""
    if response.status_code != 401 or "Authorization" in response.request.headers or not offered(response.headers):
        return response
    request = response.request.copy()
    request.headers["Authorization"] = f"Negotiate {token(urllib.parse.urlsplit(request.url).hostname or '')}"
    response.close()
    answer = response.connection.send(request, **how)
    answer.history.append(response)
    answer.request = request
    return answer

"""A KDC of MIT Kerberos for one test session, and the server's side of SPNEGO by the same library. Not a test module."""

from __future__ import annotations

import base64
import ctypes
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from heterodoop.storage import spnego

REALM = "TEST.INVALID"
_SYSTEM = "/usr/sbin"
_CONF = """[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {realm} = {{
    kdc = 127.0.0.1:{port}
  }}
"""
_KDC_CONF = """[kdcdefaults]
  kdc_listen = 127.0.0.1:{port}
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {realm} = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
    supported_enctypes = aes256-cts-hmac-sha1-96:normal
  }}
"""


class Kdc(NamedTuple):
    """`environment`: of clients, who are alice by a keytab; `keytab`: of HTTP/127.0.0.1; `folder`: with all keytabs."""

    environment: dict[str, str]
    keytab: Path
    folder: Path

    def add(self, principal: str, keytab: Path) -> None:
        """A principal with a random key, which goes into a keytab."""
        for words in (f"addprinc -randkey {principal}", f"ktadd -k {keytab} {principal}"):
            self.run("kadmin.local", "-q", words)

    def run(self, *words: str) -> None:
        """A command of the KDC's own."""
        environment = {**os.environ, **self.environment, "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf")}
        subprocess.run([str(program(words[0])), *words[1:]], env=environment, check=True, capture_output=True)


def program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], _SYSTEM]))


def without_tickets(folder: Path) -> dict[str, str]:
    """The environment of somebody who has no ticket, whatever the machine's own configuration is."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "krb5.conf").write_text(_CONF.format(realm=REALM, port=1))
    return {"KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5CCNAME": f"FILE:{folder}/none",
            "KRB5_CLIENT_KTNAME": f"FILE:{folder}/no.keytab"}


@contextmanager
def running(folder: Path) -> Iterator[Kdc]:
    """A KDC that answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for name, text in (("krb5.conf", _CONF), ("kdc.conf", _KDC_CONF)):
        (folder / name).write_text(text.format(realm=REALM, port=port, folder=folder))
    client = {"KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5CCNAME": f"FILE:{folder}/cache",
              "KRB5_CLIENT_KTNAME": f"FILE:{folder}/alice.keytab"}
    environment = {**os.environ, **client, "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
    found = Kdc(client, folder / "http.keytab", folder)
    found.run("kdb5_util", "create", "-s", "-P", "secret", "-r", REALM)
    found.add("alice", folder / "alice.keytab")
    found.add("HTTP/127.0.0.1", found.keytab)
    with subprocess.Popen([str(program("krb5kdc")), "-n", "-r", REALM], env=environment) as kdc:
        try:
            end = time.monotonic() + 20
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=5).close()
                    break
                except OSError:
                    assert time.monotonic() < end and kdc.poll() is None, "the KDC does not listen"
                    time.sleep(0.01)
            yield found
        finally:
            kdc.terminate()


def accepted(header: str) -> str:
    """Whose login the `Authorization` of a request is, by $KRB5_KTNAME; "": nobody's."""
    kind, _, text = header.partition(" ")
    if kind != "Negotiate":
        return ""
    gss, data = spnego._Gss(), base64.b64decode(text)
    given = spnego._Buffer(len(data), ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p))
    context, name, said, shown = ctypes.c_void_p(), ctypes.c_void_p(), spnego._Buffer(), spnego._Buffer()
    try:
        gss.call("gss_accept_sec_context", ctypes.byref(context), None, ctypes.byref(given), None, ctypes.byref(name), None,
                 ctypes.byref(said), None, None, None)
        gss.call("gss_display_name", name, ctypes.byref(shown), None)
    except spnego.LoginFailed:
        return ""
    return shown.taken().decode()

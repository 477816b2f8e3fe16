"""Hadoop's configuration files as Hadoop reads them: *-site.xml of HADOOP_CONF_DIR, `final`, variables, defaults.

(org.apache.hadoop.conf.Configuration.) Of the *-default.xml, which lie in Hadoop's jars, only what HeteroDoop asks for is
repeated here. Addresses of NameNode and ResourceManager come from here and never from a job. Not here: talking to anyone.
"""

from __future__ import annotations

import getpass
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from ..errors import UsageError
from ..values import dataclass

SITE_FILES = ("core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml")
DEFAULTS: Mapping[str, str] = {
    "fs.defaultFS": "file:///",
    "dfs.namenode.http-address": "0.0.0.0:9870",
    "dfs.namenode.https-address": "0.0.0.0:9871",
    "dfs.http.policy": "HTTP_ONLY",
    "hadoop.security.authentication": "simple",
    "mapreduce.job.counters.max": "120",
    "mapreduce.jobhistory.address": "0.0.0.0:10020",
    "mapreduce.jobhistory.webapp.address": "0.0.0.0:19888",
    "mapreduce.jobhistory.webapp.https.address": "0.0.0.0:19890",
    "mapreduce.jobhistory.http.policy": "HTTP_ONLY",
    "yarn.app.mapreduce.am.staging-dir": "/tmp/hadoop-yarn/staging",
    "yarn.http.policy": "HTTP_ONLY",
    "yarn.resourcemanager.hostname": "0.0.0.0",
    "yarn.nodemanager.resource.memory-mb": "8192",
}
# Names of Hadoop 1 that are still met in the field.
_NEW_NAMES = {"fs.default.name": "fs.defaultFS", "dfs.http.address": "dfs.namenode.http-address"}
_VARIABLE = re.compile(r"\$\{([^{}$\s]+)\}")
_MOST_SUBSTITUTIONS = 20  # Configuration.MAX_SUBST
_MOST_INCLUDES = 16
_INCLUDE = "{http://www.w3.org/2001/XInclude}include"
_FALLBACK = "{http://www.w3.org/2001/XInclude}fallback"
_RM_PORTS = {"http": "8088", "https": "8090"}


@dataclass(frozen=True)
class HadoopConf:
    """A loaded configuration. `folder`: where it was read; None where there is none, and only defaults hold."""

    folder: Path | None
    values: Mapping[str, str]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def get(self, key: str, default: str = "") -> str:
        """The value, variables replaced and blanks around it cut; `default` where it is not set.

        Raises UsageError HD610: variables that lead to each other without an end.
        """
        raw = self._raw(key)
        return self._expand(key, raw).strip() if raw is not None else default

    def get_list(self, key: str) -> tuple[str, ...]:
        """A value of several, cut at commas."""
        return tuple(word.strip() for word in self.get(key).split(",") if word.strip())

    def default_fs(self) -> str:
        """fs.defaultFS without a slash at its end, as in hdfs://host:8020; "file://" where there is no cluster."""
        scheme, slashes, rest = self.get("fs.defaultFS").partition("://")
        return scheme + slashes + rest.rstrip("/")

    @property
    def secure(self) -> bool:
        """Whether the cluster authenticates by Kerberos."""
        return self.get("hadoop.security.authentication").lower() != "simple"

    def rm_webs(self) -> tuple[str, ...]:
        """URLs of the ResourceManagers' web servers (several with high availability), as in http://host:8088."""
        several = self.get("yarn.resourcemanager.ha.enabled") == "true"
        ids = self.get_list("yarn.resourcemanager.ha.rm-ids") if several else ()
        return tuple(self._rm_web(f".{rm}") for rm in ids) if ids else (self._rm_web(""),)

    def jhs_web(self) -> str:
        """URL of the job history server's web server."""
        scheme = _scheme(self.get("mapreduce.jobhistory.http.policy"))
        key = "mapreduce.jobhistory.webapp." + ("https.address" if scheme == "https" else "address")
        return f"{scheme}://{_reachable(self.get(key))}"

    def nn_webs(self) -> tuple[str, ...]:
        """URLs of the NameNodes' web servers (WebHDFS) of the default file system; () where that is not HDFS."""
        scheme, _, authority = self.default_fs().partition("://")
        if scheme != "hdfs":
            return ()
        web = _scheme(self.get("dfs.http.policy"))
        key = f"dfs.namenode.{web}-address"
        nodes = self.get_list(f"dfs.ha.namenodes.{authority}")
        if nodes:
            return tuple(f"{web}://{self.get(f'{key}.{authority}.{node}')}" for node in nodes)
        host, _, port = self.get(key).rpartition(":")
        return (f"{web}://{authority.partition(':')[0] if host in _ANY else host}:{port}",)

    def _rm_web(self, suffix: str) -> str:
        scheme = _scheme(self.get("yarn.http.policy"))
        key = "yarn.resourcemanager.webapp." + ("https.address" if scheme == "https" else "address")
        host = self.get(f"yarn.resourcemanager.hostname{suffix}") or self.get("yarn.resourcemanager.hostname")
        return f"{scheme}://{_reachable(self.get(key + suffix) or f'{host}:{_RM_PORTS[scheme]}')}"

    def _raw(self, key: str) -> str | None:
        return self.values.get(key, DEFAULTS.get(key))

    def _expand(self, key: str, text: str) -> str:
        """Configuration.substituteVars: the innermost variable first; one that nobody knows stays as it is."""
        begin = 0
        for _ in range(_MOST_SUBSTITUTIONS):
            match = _VARIABLE.search(text, begin)
            while match and (value := self._variable(match[1])) is None:
                begin = match.end()
                match = _VARIABLE.search(text, begin)
            if not match or value is None:
                return text
            text = text[: match.start()] + value + text[match.end() :]
            begin = 0
        raise UsageError(f"{key}: more than {_MOST_SUBSTITUTIONS} variables in {text!r}", code="HD610",
                         help="look for variables of the configuration that lead to each other")

    def _variable(self, name: str) -> str | None:
        if name.startswith("env."):
            return self._environment(name[len("env."):])
        system = {"user.name": _user_name, "user.home": lambda: str(Path.home()), "java.io.tmpdir": tempfile.gettempdir}
        if name in self.values or name not in system:
            return self._raw(name)
        return system[name]()

    def _environment(self, text: str) -> str | None:
        """X, X-default (where X is not set), X:-default (where it is not set or empty)."""
        name, dash, default = text.partition("-")
        empty_too = name.endswith(":")
        value = self.environ.get(name.removesuffix(":"))
        if dash and (value is None or (empty_too and not value)):
            return default
        return value


def load(folder: Path | None = None, environ: Mapping[str, str] = os.environ) -> HadoopConf:
    """The configuration of a folder (None: $HADOOP_CONF_DIR, else $HADOOP_HOME/etc/hadoop, else defaults alone).

    Raises UsageError HD610: no such folder, or a file in it cannot be read.
    """
    if folder is None and environ.get("HADOOP_CONF_DIR"):
        folder = Path(environ["HADOOP_CONF_DIR"])
    elif folder is None and environ.get("HADOOP_HOME"):
        below = Path(environ["HADOOP_HOME"], "etc", "hadoop")
        folder = below if below.is_dir() else None
    if folder is None:
        return HadoopConf(None, {}, environ)
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of Hadoop's configuration", code="HD610", help="set HADOOP_CONF_DIR")
    values: dict[str, str] = {}
    final: set[str] = set()
    for name in SITE_FILES:
        _read(folder / name, values, final, 0)
    return HadoopConf(folder, values, environ)


def _read(path: Path, values: dict[str, str], final: set[str], depth: int) -> None:
    """One file on top of what others said; a property that an earlier file called final stays. A missing one is empty."""
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except FileNotFoundError:
        return
    except (OSError, ElementTree.ParseError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}", code="HD610") from None
    if root.tag != "configuration":
        raise UsageError(f"{path}: its top element is {root.tag!r}, not 'configuration'", code="HD610")
    _take(root, path, values, final, depth)


def _take(root: ElementTree.Element, path: Path, values: dict[str, str], final: set[str], depth: int) -> None:
    own: set[str] = set()
    for element in root:
        if element.tag == _INCLUDE:
            _include(element, path, values, final, depth)
        elif element.tag == "configuration":
            _take(element, path, values, final, depth)
        elif element.tag == "property":
            name, value, is_final = _property(element)
            name = _NEW_NAMES.get(name, name)
            if not name or value is None or name in final:
                continue
            values[name] = value
            if is_final:
                own.add(name)
    final |= own


def _include(element: ElementTree.Element, path: Path, values: dict[str, str], final: set[str], depth: int) -> None:
    if depth >= _MOST_INCLUDES:
        raise UsageError(f"{path}: more than {_MOST_INCLUDES} files include each other", code="HD610")
    target = path.parent / element.get("href", "").removeprefix("file://")
    if target.is_file():
        _read(target, values, final, depth + 1)
    elif element.find(_FALLBACK) is None:
        raise UsageError(f"{path} includes {target}, which is no file", code="HD610")


def _property(element: ElementTree.Element) -> tuple[str, str | None, bool]:
    """Name, value (None: there is none) and whether it is final; as child elements or as attributes."""
    said = {**element.attrib, **{child.tag: "".join(child.itertext()) for child in element}}
    return said.get("name", "").strip(), said.get("value"), said.get("final", "").strip() == "true"


_ANY = ("0.0.0.0", "", "[::]")


def _reachable(address: str) -> str:
    """An address that a server listens at, as one to connect to."""
    host, _, port = address.rpartition(":")
    return f"127.0.0.1:{port}" if host in _ANY else address


def _scheme(policy: str) -> str:
    return "https" if policy.upper() == "HTTPS_ONLY" else "http"


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a uid without a name
        return str(os.getuid())


def hadoop_user(environ: Mapping[str, str] = os.environ) -> str:
    """Who we are to a cluster without Kerberos: $HADOOP_USER_NAME, else the user's name."""
    return environ.get("HADOOP_USER_NAME") or _user_name()

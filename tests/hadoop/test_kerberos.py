"""Clusters whose web addresses want a login: with a ticket of a real KDC, where this machine has one, and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.commands import doctor_hadoop
from heterodoop.driver.cluster.yarn_rest import Addresses, Rest, Unknown
from heterodoop.hadoop.job import client
from heterodoop.storage import spnego
from heterodoop.storage.webhdfs import Namespace

from ..support import Bundles, cli_here
from . import kdc
from .fake_cluster import APP, FakeCluster
from .test_submit import MAP, PLAIN

PRINCIPAL = f"alice@{kdc.REALM}"


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kdc.Kdc]:
    if not all(map(kdc.program, ("krb5kdc", "kdb5_util", "kadmin.local"))):
        pytest.skip("no KDC here (Debian: krb5-kdc, krb5-admin-server)")
    with kdc.running(tmp_path_factory.mktemp("kdc")) as found:
        yield found


@pytest.fixture
def secured(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """It has Kerberos, says its configuration; nobody's login is taken yet."""
    site = fake.folder / "conf" / "core-site.xml"
    row = "<property><name>hadoop.security.authentication</name><value>kerberos</value></property>"
    site.write_text(site.read_text().replace("<configuration>", f"<configuration>{row}"))
    fake.login = lambda header: ""
    for name, value in kdc.without_tickets(fake.folder / "krb5").items():
        monkeypatch.setenv(name, value)
    return fake


@pytest.fixture
def ticket(realm: kdc.Kdc, secured: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    for name, value in {**realm.environment, "KRB5_KTNAME": f"FILE:{realm.keytab}"}.items():
        monkeypatch.setenv(name, value)
    secured.login = kdc.accepted
    return secured


def test_files_and_jobs_of_a_secured_cluster(ticket: FakeCluster, tmp_path: Path) -> None:
    """Each request is asked for a login and comes again with one; names are below the home of who has the ticket."""
    (tmp_path / "f").write_bytes(b"a\nb\n")
    ticket.folders.add("/user/alice")
    cli_here("fs", "put", tmp_path / "f", "f")
    assert ticket.files == {"/user/alice/f": b"a\nb\n"} and cli_here("fs", "cat", "f").out == b"a\nb\n"
    cli_here("fs", "rm", "f")
    assert not ticket.files and ticket.users == {PRINCIPAL} and not any("user.name" in asked for asked in ticket.asked)
    ticket.answers["/ws/v1/cluster/apps"] = {"apps": None}
    cli_here("job", "list")
    assert any("/apps?" in asked and "user=alice" in asked for asked in ticket.asked)
    ticket.application(("RUNNING", "UNDEFINED"))
    rest = Rest(Addresses((f"http://{ticket.address}",)))  # as a driver asks
    assert doctor_hadoop._ticket().text == "of alice"
    assert rest.over(APP.replace("application", "job")) is False


def test_a_login_that_the_server_does_not_take(ticket: FakeCluster) -> None:
    ticket.login = lambda header: ""
    for words in (("fs", "ls", "/"), ("job", "list")):
        message = cli_here(*words, status=4).message
        assert "[HD635]" in message and "login" in message, message


def test_without_a_ticket(secured: FakeCluster, bundles: Bundles) -> None:
    """Each command says what is missing, and submits nothing."""
    bundle = bundles.get(MAP, reduce=PLAIN)
    for words in (("fs", "ls", "/"), ("job", "list"), ("submit", bundle, "-i", "in", "-o", "out"),
                  ("run", bundle, "hdfs://namenode:8020/in", "-o", secured.folder / "out")):
        message = cli_here(*words, status=4).message
        assert "[HD635]: the cluster wants a login by Kerberos: " in message and "kinit" in message, message
    assert not (secured.folder / "argv").exists()


def test_a_machine_without_the_library(secured: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spnego, "LIBRARY", "libgssapi_none.so.2")
    message = cli_here("fs", "ls", "/", status=4).message
    assert "[HD635]" in message and "libgssapi_none.so.2" in message and "apt install libgssapi-krb5-2" in message


@pytest.mark.parametrize("offer", ["Negotiate", "Basic realm=\"x\"", ""])
def test_web_addresses_alone_that_want_a_login(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch, offer: str) -> None:
    """The configuration says nothing of Kerberos, the servers do; or they want a password, or do not say what."""
    for name, value in kdc.without_tickets(fake.folder / "krb5").items():
        monkeypatch.setenv(name, value)
    fake.login, fake.offer = (lambda header: ""), offer
    with pytest.raises(Unknown, match="status 401"):
        Rest(Addresses((f"http://{fake.address}",))).active_nodes()
    for words in (("fs", "ls", "/"), ("job", "list")):
        message = cli_here(*words, status=4).message
        assert "[HD635]" in message and "login" in message, message


@pytest.mark.parametrize(("said", "wanted"), [
    (["Negotiate"], True), (["Basic realm=\"x\", Negotiate"], True), (["Basic", "negotiate abc"], True), (["Basic"], False),
    (None, False),
])
def test_what_a_server_offers(said: list[str] | None, wanted: bool) -> None:
    class Headers:
        def get_all(self, name: str) -> list[str] | None:
            return said if name == "WWW-Authenticate" else None

    assert spnego.offered(Headers()) is wanted


def test_a_namespace_of_another_user_needs_no_ticket_before_it_asks(secured: FakeCluster) -> None:
    with pytest.raises(spnego.LoginFailed):
        Namespace(client.configuration())
    assert Namespace(client.configuration(), user="bob").resolve("x") == "/user/bob/x"

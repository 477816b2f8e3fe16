"""REST answers of a ResourceManager, an ApplicationMaster and a JobHistory server, with all the ways they differ."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from heterodoop.driver.cluster.yarn_rest import LIMIT, Addresses, JobState, Rest, Unknown, many, of_conf, one
from heterodoop.storage.hadoop_conf import load

from ..fake_yarn import JOB, METRICS, Answer, FakeYarn, app, history, job_says, page, proxied, redirect, says


def test_a_live_job(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 40, pending=30)
    assert Rest(yarn.where).job(JOB) == JobState("RUNNING", 100, 40, 30)


def test_one_job_in_an_array(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = says({"job": [{"id": JOB, "mapsTotal": 2, "mapsCompleted": 1, "mapsRunning": 1}]})
    assert Rest(yarn.where).job(JOB) == JobState("", 2, 1, None)


def test_counts_that_this_user_may_not_see(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = job_says(100, 40, pending=0, running=0)
    assert Rest(yarn.where).job(JOB).pending is None
    yarn.answers[proxied()] = job_says(100, 100, pending=0, running=0)
    assert Rest(yarn.where).job(JOB).pending == 0


BAD = {
    "not registered yet": redirect("/cluster/app/application_1700000000000_0001"),
    "a page": page(),
    "unknown application": page(404),
    "unknown job of a live one": says({"RemoteException": {"message": "not found"}}, 404),
    "Kerberos": page(401),
    "failed": says({"job": {}}, 500),
    "no JSON": Answer(body=b'{"job": '),
    "deep": Answer(body=b"[" * 100_000),
    "an array": says([1]),
    "no job": says({}),
    "null": says({"job": None}),
    "two jobs": says({"job": [{"id": JOB}, {"id": JOB}]}),
    "another job": job_says(10, 1, job="job_1700000000000_0009"),
    "no numbers": says({"job": {"id": JOB}}),
    "a text for a number": says({"job": {"id": JOB, "mapsTotal": "10", "mapsCompleted": 1}}),
    "a truth for a number": says({"job": {"id": JOB, "mapsTotal": True, "mapsCompleted": 1}}),
    "less than nothing": says({"job": {"id": JOB, "mapsTotal": 10, "mapsCompleted": -1}}),
    "more done than there is": job_says(10, 11),
    "too much": Answer(body=b'{"x": "' + b"y" * LIMIT + b'"}'),
    "no UTF-8": Answer(body=b'{"job": "\xff"}'),
}


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_not_known(yarn: FakeYarn, name: str) -> None:
    yarn.answers[proxied()] = BAD[name]
    with pytest.raises(Unknown):
        Rest(yarn.where).job(JOB)


def test_redirects_are_not_followed(yarn: FakeYarn) -> None:
    yarn.answers[proxied()] = redirect("/elsewhere")
    yarn.answers["/elsewhere"] = job_says(10, 1)
    with pytest.raises(Unknown, match="302"):
        Rest(yarn.where).job(JOB)
    assert yarn.asked == [proxied()]


@pytest.mark.parametrize("job", ["", "job_local1_1", "job_1_2/../../x", "job_1_2\n", "job_1_2?user.name=root", "x" * 999])
def test_a_message_cannot_choose_what_is_asked(yarn: FakeYarn, job: str) -> None:
    rest = Rest(yarn.where)
    with pytest.raises(Unknown, match="no job id"):
        rest.job(job)
    assert not rest.over(job) and rest.history(job) is None and not yarn.asked


def test_the_environment_names_no_proxy(yarn: FakeYarn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert Rest(yarn.where).active_nodes() == 3


NO_NODES = [page(), says({}), says({"clusterMetrics": None}), says({"clusterMetrics": {"activeNodes": "3"}})]


@pytest.mark.parametrize("answer", NO_NODES)
def test_active_nodes(yarn: FakeYarn, answer: Answer) -> None:
    yarn.answers[METRICS] = says({"clusterMetrics": [{"activeNodes": 7}]})
    assert Rest(yarn.where).active_nodes() == 7
    yarn.answers[METRICS] = answer
    with pytest.raises(Unknown):
        Rest(yarn.where).active_nodes()


def test_the_end_of_a_job(yarn: FakeYarn) -> None:
    rest = Rest(yarn.where)
    assert not rest.over(JOB), "nobody knows it"
    for state, over in [("ACCEPTED", False), ("RUNNING", False), ("FINISHING", False), ("FINISHED", True), ("KILLED", True)]:
        yarn.answers[app()] = says({"app": {"state": state}})
        assert rest.over(JOB) == over, state
    yarn.answers[app()] = page(404)
    yarn.answers[history()] = says({"job": [{"id": JOB, "state": "SUCCEEDED"}]})
    assert rest.over(JOB) and rest.history(JOB) == {"id": JOB, "state": "SUCCEEDED"}


def test_a_standby_resource_manager(yarn: FakeYarn) -> None:
    with FakeYarn() as standby:
        standby.answers[METRICS] = redirect(yarn.url + METRICS)
        rest = Rest(Addresses((standby.url, yarn.url)))
        assert [rest.active_nodes() for _ in range(3)] == [3] * 3
        assert standby.asked == [METRICS], "the one that answered is asked first"


def test_a_resource_manager_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Unknown):
        Rest(Addresses((f"http://127.0.0.1:{port}",))).job(JOB)
    with pytest.raises(Unknown, match="no ResourceManager"):
        Rest(Addresses(())).job(JOB)


@pytest.mark.parametrize("drops", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"])
def test_one_that_says_nothing_or_very_slowly(drops: bytes) -> None:
    def drip(server: socket.socket, done: threading.Event) -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(drops)
            while drops and not done.wait(0.05):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return
            done.wait(5)

    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server, done))
        thread.start()
        with pytest.raises(Unknown, match="timed out"):
            Rest(Addresses((f"http://127.0.0.1:{server.getsockname()[1]}",)), timeout=0.3).job(JOB)
        done.set()
        thread.join()


def test_addresses_of_a_configuration(tmp_path: Path) -> None:
    assert of_conf(load(None, {})) == Addresses(())
    (tmp_path / "yarn-site.xml").write_text(
        "<configuration><property><name>yarn.resourcemanager.hostname</name><value>m</value></property></configuration>")
    assert of_conf(load(tmp_path)) == Addresses(("http://m:8088",), "http://127.0.0.1:19888")


def test_lists_in_every_way_they_are_written() -> None:
    element = {"id": 1}
    assert many(element) == many([element]) == [element] and many([element, element]) == [element] * 2
    assert many(None) == many({}) == many([]) == many("x") == []
    assert one([element]) == one(element) == element and one([element] * 2) is None

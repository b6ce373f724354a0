from __future__ import annotations

import datetime as dt
import ssl
import time
from collections.abc import Sequence
from threading import Event

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from receiver import dripping, endless_body, endless_head, raw, receiving, silent, status
from slate.adapters.https.sender import HttpsSender

BRIEF = 0.25


def sender(timeout: float = 5.0, **changes: object) -> HttpsSender:
    return HttpsSender(**{"timeout_seconds": timeout, "loopback": True, **changes})  # type: ignore[arg-type]


def test_it_posts_the_body_with_its_headers_and_tells_the_status():
    with receiving(status(204)) as receiver:
        answer = sender().send(f"{receiver.url}?a=b", {"webhook-id": "e-1"}, b'{"n":1}')
        assert (answer.status, answer.error) == (204, None)
        [request] = receiver.requests
        assert request.head == ["POST /hook?a=b HTTP/1.1"]
        assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
        assert request.headers["webhook-id"] == "e-1"
        assert request.body == b'{"n":1}'


@pytest.mark.parametrize("code", [200, 299, 301, 307, 400, 404, 410, 429, 500, 503])
def test_any_status_is_told_as_it_is(code):
    with receiving(status(code)) as receiver:
        assert sender().send(receiver.url, {}, b"{}").status == code


def test_a_redirect_is_not_followed():
    with receiving(status(200)) as other, receiving(status(302, f"Location: {other.url}")) as receiver:
        assert sender().send(receiver.url, {}, b"{}").status == 302
        assert other.requests == []


@pytest.mark.parametrize(("value", "seconds"), [("120", 120), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)])
def test_a_wish_for_a_pause_is_read_where_it_is_a_number_of_seconds(value, seconds):
    with receiving(status(503, f"Retry-After: {value}")) as receiver:
        assert sender().send(receiver.url, {}, b"{}").retry_after == seconds


def test_informational_answers_are_passed_over():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    with receiving(raw(early, early, b"HTTP/1.1 200 OK\r\n\r\n")) as receiver:
        assert sender().send(receiver.url, {}, b"{}").status == 200


@pytest.mark.parametrize("answering", [silent, dripping])
def test_an_answer_that_does_not_end_in_time_is_cut(answering):
    with receiving(answering) as receiver:
        started = time.monotonic()
        answer = sender(BRIEF).send(receiver.url, {}, b"{}")
        assert answer.status is None
        assert answer.error == "no answer within 0.25 s"
        assert time.monotonic() - started < BRIEF + 0.5


def test_an_endless_head_is_cut_by_its_size():
    with receiving(endless_head) as receiver:
        assert sender().send(receiver.url, {}, b"{}").error == "the head of the answer is over 16384 bytes"


def test_an_endless_body_is_not_read():
    with receiving(endless_body) as receiver:
        assert sender().send(receiver.url, {}, b"{}").status == 200


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", "the connection was closed before an answer"),
        (b"HTTP/1.1 200", "the connection was closed before an answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 999 No\r\n\r\n", "the answer is not HTTP"),
    ],
)
def test_what_is_not_an_answer_is_an_error(answer, error):
    with receiving(raw(answer)) as receiver:
        assert sender().send(receiver.url, {}, b"{}").error == error


def test_nobody_there_is_an_error_and_no_exception():
    with receiving(status(200)) as receiver:
        url = receiver.url
    assert sender().send(url, {}, b"{}").error in {"no connection: ConnectionRefusedError", "no connection: OSError"}


class Names:
    """A resolver that answers from a list, each time with the next."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, _: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("10.1.2.3", "private"),
        ("192.168.0.1", "private"),
        ("100.64.1.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fd00:ec2::254", "private"),
        ("::ffff:169.254.169.254", "link-local"),
        ("127.0.0.1", "this machine's own"),
        ("::1", "this machine's own"),
    ],
)
def test_a_public_name_that_resolves_to_a_private_address_is_not_connected_to(address, why, monkeypatch):
    monkeypatch.setattr("socket.create_connection", lambda *_: pytest.fail("connected"))
    answer = sender(loopback=False, resolve=Names([address])).send("https://agents.example.com/", {}, b"{}")
    assert answer.status is None
    assert "not sent" in (answer.error or "")
    assert why in (answer.error or "")


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    monkeypatch.setattr("socket.create_connection", lambda *_: pytest.fail("connected"))
    names = Names(["93.184.215.14", "10.0.0.1"])
    assert "private" in (sender(loopback=False, resolve=names).send("https://example.com", {}, b"").error or "")


def test_a_name_that_resolves_to_another_address_a_moment_later_is_asked_once(monkeypatch):
    connected: list[tuple[str, int]] = []

    def connect(place: tuple[str, int], _: float) -> None:
        connected.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.create_connection", connect)
    names = Names(["93.184.215.14"], ["127.0.0.1"])
    sender(loopback=False, resolve=names).send("https://rebinding.example.com/", {}, b"")
    assert names.asked == ["rebinding.example.com"]
    assert connected == [("93.184.215.14", 443)]


def test_without_https_only_this_machine_is_reached(monkeypatch):
    monkeypatch.setattr("socket.create_connection", lambda *_: pytest.fail("connected"))
    answer = sender(resolve=Names(["93.184.215.14"])).send("http://localhost:8000/", {}, b"")
    assert answer.error == "not sent: without https only this machine is reached"


def test_a_name_that_is_not_resolved_in_time_holds_nothing_up():
    over = Event()

    def stuck(_: str, __: int) -> Sequence[str]:
        over.wait()
        return ["93.184.215.14"]

    try:
        answer = sender(BRIEF, resolve=stuck).send("https://example.com", {}, b"")
        assert answer.error == "the host's name was not resolved in time"
    finally:
        over.set()


def test_an_address_that_does_not_answer_leaves_the_next_one_its_turn():
    with receiving(status(200)) as receiver:
        names = Names(["127.0.0.2", "127.0.0.1"])
        assert sender(resolve=names).send(f"http://localhost:{receiver.port}/", {}, b"").status == 200


def certificate(*names: str) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.public_bytes(serialization.Encoding.PEM), pem


@pytest.fixture
def tls(tmp_path):
    """The receiver's side, and a sender's that trusts it."""
    made, key = certificate("agents.localhost")
    (tmp_path / "both.pem").write_bytes(made + key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "both.pem")
    return server, ssl.create_default_context(cadata=made.decode())


def test_https_is_spoken_with_the_hosts_own_name_at_the_address_that_was_judged(tls):
    server, trusting = tls
    with receiving(status(200), server) as receiver:
        to = sender(tls=trusting, resolve=Names(["127.0.0.1"]))
        assert to.send(f"https://agents.localhost:{receiver.port}/", {}, b"{}").status == 200
        assert receiver.requests[0].headers["host"] == f"agents.localhost:{receiver.port}"


@pytest.mark.parametrize(("host", "trusts"), [("agents.localhost", False), ("other.localhost", True)])
def test_a_certificate_of_another_name_or_that_nobody_vouches_for_is_refused(tls, host, trusts):
    server, trusting = tls
    with receiving(status(200), server) as receiver:
        to = sender(tls=trusting if trusts else None, resolve=Names(["127.0.0.1"]))
        answer = to.send(f"https://{host}:{receiver.port}/", {}, b"{}")
        assert "its certificate is not valid" in (answer.error or "")
        assert receiver.requests == []

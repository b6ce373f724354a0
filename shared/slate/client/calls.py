"""One call to a Slate server over HTTP, repeated where that is safe; refusals arrive as the server's own classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import httpx

from slate.client.credentials import Bearer, Credential
from slate.contract.problems import error_of
from slate.domain.errors import (
    Forbidden,
    Invalid,
    NotFound,
    SlateError,
    Throttled,
    TooLarge,
    Unauthenticated,
    Unavailable,
)

_BUSY: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
# What a gateway in front of Slate says in its own words, without a problem's code.
_BY_STATUS: Final[Mapping[int, type[SlateError]]] = {
    HTTPStatus.UNAUTHORIZED: Unauthenticated,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge,
}
# These say that no connection stood yet, so the server cannot have seen the call.
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often, and after which rests, a call is repeated."""

    attempts: int = 5
    """Calls in all; 1 never repeats."""
    base_seconds: float = 0.2
    """The first rest; each further one is twice as long."""
    cap_seconds: float = 10.0
    """No rest is longer, unless the server asks for it."""
    patience_seconds: float = 60.0
    """A server that asks for a longer rest than this is given up at once."""

    def rest(self, attempt: int, jitter: float, retry_after: float | None) -> float:
        """Seconds to wait after the n-th failed attempt: never less than the server asked for.

        ``jitter`` is uniform in [0, 1) and keeps a crowd that failed together from coming back together.
        """
        if retry_after is not None:
            return retry_after + jitter * self.base_seconds
        return min(self.base_seconds * 2.0 ** min(attempt - 1, 30), self.cap_seconds) * (1 + jitter) / 2


@dataclass(frozen=True, slots=True)
class _Setback:
    """Why an attempt came to nothing, and whether it may have taken effect all the same."""

    error: SlateError
    may_have_happened: bool
    retry_after: float | None = None


class Text(NamedTuple):
    """An answer that is no JSON."""

    status: int
    content: str
    headers: Mapping[str, str]


class Calls:
    """A call either answers what the server said, or raises; nothing unsafe is ever sent twice."""

    def __init__(
        self,
        url: str,
        credential: Credential,
        *,
        transport: httpx.BaseTransport | None,
        timeout: float,
        retries: Retries,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        base = _base_url(url)
        self._http = httpx.Client(
            base_url=base,
            headers={"Accept": "application/json"},
            auth=Bearer(credential),
            timeout=timeout,
            transport=transport,
            # A proxy named in the environment cannot reach this machine's own loopback.
            trust_env=base.host not in _LOOPBACK,
        )
        self._timeout = timeout
        self._retries = retries
        self._sleep = sleep
        self._jitter = jitter

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        params: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        if_match: int | None = None,
        repeatable: bool = True,
        waits: float = 0,
    ) -> Any:
        """Send, and answer the parsed body, or None where there is none.

        The server may wait for ``waits`` seconds before it answers: the timeout begins after them.
        ``repeatable`` says that the same call twice has the effect of one. Other calls are repeated only where the
        server cannot have acted on the first.

        Raises:
            Throttled: given up: this credential calls more often than it may; nothing was done.
            Unavailable: given up; for a call that is not repeatable it may have taken effect.
            SlateError: the server refused; the class is the one that its code names.
        """
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        content = None if body is None else encode(body)
        request = self._http.build_request(
            method, path, content=content, params=params, headers=headers, timeout=self._timeout + waits
        )
        response, attempt = self._answered(request, repeatable=repeatable)
        if method == "DELETE" and attempt > 1 and response.status_code == HTTPStatus.NOT_FOUND:
            return None  # an earlier attempt, whose answer was lost, did it
        return _read(response, attempt)

    def text(self, path: str, *, accept: str, params: Mapping[str, str] | None = None) -> Text:
        """Read what is no JSON.

        Raises:
            Unavailable: given up.
            SlateError: the server refused; the class is the one that its code names.
        """
        headers = {"Accept": accept}
        request = self._http.build_request("GET", path, params=params, headers=headers, timeout=self._timeout)
        response, attempt = self._answered(request, repeatable=True)
        if not response.is_success:
            _read(response, attempt)
        return Text(response.status_code, response.text, response.headers)

    def _answered(self, request: httpx.Request, *, repeatable: bool) -> tuple[httpx.Response, int]:
        """What the server answered, and at which attempt."""
        attempt = 1
        while True:
            answer = self._attempt(request)
            if not isinstance(answer, _Setback):
                return answer, attempt
            self._rest_or_give_up(answer, attempt, repeatable)
            attempt += 1

    def _attempt(self, request: httpx.Request) -> httpx.Response | _Setback:
        try:
            response = self._http.send(request)
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            unavailable = Unavailable(f"no answer from {request.url.host}: {reason}")
            return _Setback(unavailable, may_have_happened=not isinstance(error, _NEVER_SENT))
        if response.status_code in _BUSY:
            problem, throttled = _problem(response), response.status_code == HTTPStatus.TOO_MANY_REQUESTS
            said = problem.get("detail") or f"{response.status_code} {response.reason_phrase}"
            data = {k: problem[k] for k in ("request_id", "retry_after") if k in problem}
            cls = Throttled if throttled else Unavailable
            return _Setback(
                cls(f"{request.url.host} is busy: {said}", **data),
                may_have_happened=not throttled,
                retry_after=_retry_after(response),
            )
        if response.is_error and _problem(response).get("retryable") is True:
            return _Setback(_error(response), may_have_happened=False, retry_after=_retry_after(response))
        return response

    def _rest_or_give_up(self, setback: _Setback, attempt: int, repeatable: bool) -> None:
        asked = setback.retry_after or 0.0
        if (
            attempt >= self._retries.attempts
            or asked > self._retries.patience_seconds
            or (setback.may_have_happened and not repeatable)
        ):
            setback.error.data = {**setback.error.data, "attempts": attempt}
            raise setback.error
        self._sleep(self._retries.rest(attempt, self._jitter(), setback.retry_after))


def encode(body: object) -> bytes:
    """A body as compact UTF-8 JSON.

    Raises:
        Invalid: it holds what JSON cannot carry, such as NaN or half of a surrogate pair.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise Invalid.field("body", f"this is not JSON: {error}") from None


def _read(response: httpx.Response, attempt: int) -> Any:
    if response.is_error:
        error = _error(response)
        error.data = {**error.data, "attempts": attempt}
        raise error
    if response.is_success:
        if not response.content:
            return None
        with suppress(ValueError):
            return response.json()
    raise SlateError(
        f"{response.request.url.host} answered {response.status_code} with something else than JSON; "
        "is the url that of a Slate server?"
    )


def _error(response: httpx.Response) -> SlateError:
    problem = _problem(response)
    if "code" in problem:
        return error_of(problem)
    said = problem.get("message") or response.reason_phrase
    cls = _BY_STATUS.get(response.status_code, SlateError)
    return cls(f"{response.request.url.host} answered {response.status_code}: {said}")


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    with suppress(ValueError):
        parsed = response.json()
        if isinstance(parsed, dict):
            return parsed
    return {}


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks for: a number, or a date against the server's own Date."""
    said = response.headers.get("Retry-After")
    if said is None:
        return None
    if said.strip().isdecimal():
        return float(said)
    with suppress(KeyError, TypeError, ValueError):
        until, now = parsedate_to_datetime(said), parsedate_to_datetime(response.headers["Date"])
        return max((until - now).total_seconds(), 0.0)
    return None


def _base_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url.strip().rstrip("/"))
    except httpx.InvalidURL as error:
        raise Invalid.field("url", f"{url!r} is not a url: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Invalid.field("url", f"{url!r} is not the url of a server; write it like https://slate.example.com")
    return parsed

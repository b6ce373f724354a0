"""The app factory: every HTTP function is made here, so that none can leave out what all must do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response

from slate.domain.access import Principal
from slate.domain.errors import Internal, MethodNotAllowed, NotFound, SlateError
from slate.ports.keyring import Operate
from slate_functions.http.answers import respond
from slate_functions.http.auditing import Audit, is_audited, unaudited
from slate_functions.http.binding import Signature
from slate_functions.http.observing import Fault, Observer, Served
from slate_functions.http.problems import problem
from slate_functions.http.requests import HttpRequest
from slate_functions.http.resolver import HttpResolver
from slate_functions.http.routes import Declaration, declarations

UNKNOWN_ROUTE: Final = "unknown"
Admit = Callable[[Principal], None]
"""Lets a caller make one more call, or refuses: ``Admission.admit``."""


@dataclass(frozen=True, slots=True)
class Route:
    """A declared route with the function that serves it."""

    declaration: Declaration
    signature: Signature
    function: Callable[..., Any]

    def answer(self, request: HttpRequest, operate: Operate, audit: Audit) -> Response[str]:
        """Ask for the scope, read the arguments, serve: as one operation, written down before the answer leaves.

        Raises:
            SlateError: any refusal; first of all, the caller may not call this.
        """
        principal = self._admitted(request)
        arguments = self.signature.arguments(request, principal)
        with (
            operate(self.declaration.intent, None if principal is None else principal.tenant),
            audit(self.declaration, principal, arguments, request.request_id) as deed,
        ):
            answer = deed.answer = self.function(**arguments)
        return respond(answer, self.declaration.status, request.request_id)

    def _admitted(self, request: HttpRequest) -> Principal | None:
        if self.declaration.scope is None:
            return None
        principal = request.principal()
        principal.need(self.declaration.scope)
        return principal


class Unaudited(Exception):
    """An app has routes of memory or privacy, and is given nothing that writes deeds down."""


class App:
    """Answers events of payload format 2.0, from any number of threads; whatever happens, it answers.

    Made of groups of routes: objects whose methods are declared by ``routes.get`` and its like. It does not start with
    a route that declares no access, nor with one whose signature it cannot serve, nor with one of memory that is not
    written down.
    """

    def __init__(
        self,
        groups: Sequence[object],
        observer: Observer,
        operate: Operate,
        admit: Admit,
        *,
        audit: Audit = unaudited,
        stopwatch: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._observer = observer
        self._operate = operate
        self._admit = admit
        self._audit = audit
        self._stopwatch = stopwatch
        self._resolver = HttpResolver()
        self._resolver.not_found(self._nowhere)
        self.routes = tuple(
            Route(declaration, Signature.of(getattr(type(group), name), declaration.path), getattr(group, name))
            for group in groups
            for name, declaration in declarations(type(group))
        )
        for route in self.routes:
            if audit is unaudited and is_audited(route.declaration):
                raise Unaudited(f"{route.declaration.key} reads or changes memory, and nobody writes it down")
            self._register(route)

    def __call__(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Answer one event. HEAD is GET without its body; a slash at the path's end changes nothing."""
        http = event["requestContext"]["http"]
        head = http["method"] == "HEAD"
        method, path = "GET" if head else http["method"], event["rawPath"]
        if head or (path.endswith("/") and path != "/"):
            path = path.rstrip("/") or "/"
            http = {**http, "method": method, "path": path}
            event = {**event, "rawPath": path, "requestContext": {**event["requestContext"], "http": http}}
        answer = self._resolver.resolve(event, context)
        return {**answer, "body": "", "isBase64Encoded": False} if head else answer

    def is_public(self, method: str, path: str) -> bool:
        """Whether anybody may call this, so that no authorizer is asked."""
        at = path.rstrip("/") or "/"
        asked = "GET" if method == "HEAD" else method
        return any(
            route.declaration.public and (route.declaration.method, route.declaration.path) == (asked, at)
            for route in self.routes
        )

    def may_wait(self, method: str, path: str) -> bool:
        """Whether this route may wait in real time, so that it is served apart from the others."""
        at = path.rstrip("/") or "/"
        asked = "GET" if method == "HEAD" else method
        return any(route.declaration.waits and route.declaration.serves(asked, at) for route in self.routes)

    def _register(self, route: Route) -> None:
        def serve(**path: str) -> Response[str]:
            return self._guarded(
                route.declaration.key, lambda request: route.answer(request, self._operate, self._audit), path
            )

        self._resolver.register(route.declaration.method, route.declaration.path, serve)

    def _nowhere(self, _: Exception) -> Response[str]:
        return self._guarded(UNKNOWN_ROUTE, self._refuse_unknown, {})

    def _refuse_unknown(self, request: HttpRequest) -> Response[str]:
        http = request.event["requestContext"]["http"]
        methods = self._resolver.methods_at(request.event["rawPath"])
        if methods:
            allowed = sorted(methods | ({"HEAD"} if "GET" in methods else set()))
            raise MethodNotAllowed(f"this path takes {', '.join(allowed)}, not {http['method']}", allowed=allowed)
        raise NotFound("there is no such route; /openapi.json lists them")

    def _guarded(self, key: str, act: Callable[[HttpRequest], Response[str]], path: Mapping[str, str]) -> Response[str]:
        """Whatever ``act`` raises is answered as a problem, and what was done is told."""
        started = self._stopwatch()
        request = HttpRequest(self._resolver.current_event.raw_event, path)
        caller: Principal | None = None
        code = None
        try:
            caller = request.caller()
            if caller is not None:
                self._admit(caller)
            response = act(request)
        except SlateError as error:
            code = error.code
            response = problem(error, request.request_id)
            if code == Internal.code:
                self._observer.failed(Fault.of(error, request.request_id, key))
        except Exception as error:  # noqa: BLE001  # the caller gets a problem and the fault is told, whatever it is
            code = Internal.code
            response = problem(_internal(request.request_id), request.request_id)
            self._observer.failed(Fault.of(error, request.request_id, key))
        self._tell(request.request_id, key, response.status_code, caller, code, started)
        return response

    def _tell(
        self, request_id: str, key: str, status: int, caller: Principal | None, code: str | None, started: float
    ) -> None:
        self._observer.served(
            Served(
                request_id=request_id,
                route=key,
                status=status,
                milliseconds=(self._stopwatch() - started) * 1000,
                tenant=None if caller is None else caller.tenant,
                key_id=None if caller is None else caller.key_id,
                code=code,
            )
        )


def _internal(request_id: str) -> Internal:
    return Internal(f"something went wrong on our side; quote the request id {request_id}")

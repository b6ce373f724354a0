"""The API's description: the document for tools, and its pages for people, which need no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slate_functions.http.answers import Page
from slate_functions.http.routes import get


class DocsRoutes:
    """The API, described."""

    def __init__(self, document: Callable[[], Mapping[str, Any]]) -> None:
        self._document = document

    @get("/openapi.json", public=True)
    def openapi(self) -> Page:
        """The OpenAPI document (3.1)."""
        return Page("application/json", json.dumps(self._document(), ensure_ascii=False, indent=2))

    @get("/docs", public=True)
    def pages(self) -> Page:
        """The document as pages, with everything they need inside."""
        # Rarely asked for, so that its import is not part of a cold start.
        import aws_lambda_powertools.event_handler.openapi.swagger_ui as swagger

        assets = Path(swagger.__file__).parent
        return Page(
            "text/html; charset=utf-8",
            swagger.generate_swagger_html(
                # No text in the document can end the script that it stands in.
                spec=json.dumps(self._document()).replace("</", "<\\/"),
                swagger_js=(assets / "swagger-ui-bundle.min.js").read_text(encoding="utf-8"),
                swagger_css=(assets / "swagger-ui.min.css").read_text(encoding="utf-8"),
                swagger_base_url="",
                oauth2_config=None,
            ),
        )

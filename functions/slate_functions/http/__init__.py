"""What the HTTP functions share: one app factory, so that access, validation and errors are the same everywhere.

A request passes ``app`` (finds the route, asks for its scope), ``binding`` (turns the request into the arguments of
the route's function, listing every field that is wrong), the route itself, and ``answers``; a refusal anywhere becomes
a problem in ``problems``.
"""

"""The Python SDK: a client of the HTTP API, and a worker to build agents on.

>>> from slate.client import Done, SlateClient, Worker
>>> client = SlateClient("https://slate.example.com", "slate_acme.k1.secret")
>>> worker = Worker(client, ["triage"], lambda context: Done("read it", {"title": context.task.title}))
"""

from slate.client.calls import Retries
from slate.client.client import SlateClient
from slate.client.webhooks import is_genuine
from slate.client.worker import Ask, Context, Done, Failed, Handler, Outcome, Worker

__all__ = ["Ask", "Context", "Done", "Failed", "Handler", "Outcome", "Retries", "SlateClient", "Worker", "is_genuine"]

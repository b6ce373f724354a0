"""Every setting Slate reads, in one frozen object made once from a mapping and passed down.

Nothing else reads the environment: a Lambda handler calls ``Settings.from_env(os.environ)`` at its module's top,
the local server builds one in code, and infra writes the same names into each function's environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

ENV_PREFIX = "SLATE_"
_TRUSTWORTHY = re.compile(r"https://[^/]|http://(localhost|127\.0\.0\.1|\[::1\])(:|/|$)")
"""Nobody on the way can answer in the place of such an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A setting has one name: field ``x_y`` is the environment variable ``SLATE_X_Y``."""

    table: str = "slate"
    """The table of everything but keys and the ledger."""
    keys_table: str = "slate-keys"
    """The table of wrapped data keys."""
    ledger_table: str = "slate-ledger"
    """The table of erasures, receipts and holds."""
    bucket: str = "slate-content"
    """The bucket of sealed content over 100 KB."""
    kms_key_id: str = ""
    """The KMS key that wraps data keys; empty where a master key file does."""
    previous_kms_key_ids: str = ""
    """KMS keys that wrapped data keys before, between spaces: they unwrap until `slate keys rotate-wrapping` is run."""
    signing_key_id: str = ""
    """The KMS key (Ed25519) that signs receipts of erasures; empty where a local key does."""
    signing_key_file: str = ""
    """On a laptop the file of that key, made where there is none; empty: a key that ends with the process."""
    tenant_role: str = ""
    """The ARN of the role that is assumed for each tenant; empty: all is done in the function's own name."""
    event_bus: str = ""
    """The EventBridge bus that events are published on; empty where the bus lives in the process."""
    webhook_addresses: str = "public"
    """Where webhooks may point: `public`, or `loopback` for public ones and this machine, over http too."""
    webhook_timeout_seconds: int = 15
    """How long one try of a delivery may take in all."""
    feed_failures_queue: str = ""
    """The address of the queue of stream records that the feed could not take; empty where queues are the process's."""
    webhooks_queue: str = ""
    """The address of the queue of webhook deliveries; empty where queues live in the process."""
    memory_queue: str = ""
    """The address of the queue of work on memory; empty where queues live in the process."""
    eraser_function: str = ""
    """The eraser's name on AWS, which whoever asks for an erasure starts; empty: the schedule alone does."""
    queue_days: int = 4
    """A queue on AWS keeps a message so long; an erasure's last sweep comes after it."""
    search_endpoint: str = ""
    """The address of the OpenSearch domain; empty: the newest of what was said is searched in the table, by words."""
    embedder: str = "hashing"
    """What makes vectors: `hashing`, `local` (extra `embedder`), or a Bedrock model such as Titan v2."""
    embedder_dimension: int = 512
    """How many numbers a Bedrock model's vector has: 256, 512 or 1024 with Titan v2."""
    region: str = "eu-central-1"
    """The AWS region of all of it."""
    ready_shards: int = 1
    """Partitions of the `ready` index a role has: more when one role's claims exceed about 1,000 a second."""
    ready_level_seconds: int = 600
    """So much waiting is worth a level of priority: who waits so much longer goes before one a level more urgent."""
    waiting_places: int = 100
    """So many requests may wait at once (claims, the feed, locks): on AWS the concurrency reserved for them."""
    key_cache_seconds: int = 300
    """How long a data key may be used without asking for it again; DRAINED of an erasure waits longer."""
    decision_cache_seconds: int = 60
    """How long a credential's decision is kept: how long a revoked key may live."""
    oidc_issuer: str = ""
    """The OpenID Connect issuer whose tokens are credentials, as their `iss` names it; empty: API keys alone are."""
    oidc_audience: str = ""
    """Whom a token must be meant for (`aud`): one of these, between spaces."""
    oidc_jwks_url: str = ""
    """Where the issuer's keys are; empty: its own description says it (`/.well-known/openid-configuration`)."""
    oidc_tenant_claim: str = "tenant"
    """The claim that names the tenant; of several, between spaces, the first that a token has. So are the others."""
    oidc_agent_claim: str = "agent client_id azp"
    """The claim that names the agent."""
    oidc_roles_claim: str = "roles"
    """The claim that names the roles a token may work for; a token without one: any."""
    oidc_scopes_claim: str = "scope scp"
    """The claim that names the scopes a token opens."""
    oidc_scope_prefix: str = ""
    """What the issuer puts before the name of each scope, such as `slate/`."""
    oidc_subject_claim: str = "subject"
    """The claim that names the one person whose data a token reaches; a token without one: anybody's."""
    oidc_required_bounds: str = ""
    """Of `subject` and `roles`, between spaces, those without which a token is refused."""
    oidc_leeway_seconds: int = 60
    """So far may the issuer's clock be off."""
    oidc_keys_fresh_seconds: int = 900
    """So long after they were read the issuer's keys are read again: how long a withdrawn key may still be taken."""
    oidc_keys_stale_seconds: int = 14_400
    """So long they are taken while the issuer cannot be reached."""
    key_calls_per_second: int = 50
    """The share of one credential: so many calls a second of each process that serves them."""
    key_burst: int = 100
    """And so many at once, after a rest."""
    tenant_cache_seconds: int = 60
    """How long a tenant's settings are used without asking for them again."""
    summary_model: str = "eu.amazon.nova-micro-v1:0"
    """The Bedrock model, or inference profile, that makes summaries on AWS; `rules`: none does. Locally rules do."""
    extraction_model: str = "eu.amazon.nova-micro-v1:0"
    """The Bedrock model that finds facts in what was said, beside the rules; `rules`: none does. Locally rules do."""
    summary_tokens: int = 256
    """The budget of one segment's summary."""
    merged_summary_tokens: int = 1024
    """The budget of a session's summaries merged; beyond it the oldest segments fold to a line each."""
    segment_exchanges: int = 15
    """A segment of a conversation holds so many exchanges at most."""
    segment_window_percent: int = 70
    """Of the model's window a segment may fill so much."""
    topic_similarity: str = "calibrated"
    """Below this likeness a user turn leaves the topic: a number, or what was calibrated for the embedder."""
    default_window: int = 128000
    """The tokens of a model's window where a session names none."""
    tokenizer: str = "o200k_base"
    """What tokens are counted by: `o200k_base`, `cl100k_base`, `qwen3.5`, or `estimate`, which needs no tokenizer."""
    window_exchanges_least: int = 3
    """A context shows so many of the last exchanges word for word while the topic is stable."""
    window_exchanges_most: int = 7
    """And so many at most when the topic jumps."""
    context_summaries: str = "on"
    """`off`: a context is a plain window of the last exchanges, and shows no summaries."""
    context_receipt_days: int = 30
    """What an agent saw is kept so long, and no longer than the session or the graph that it was made of."""
    export_days: int = 7
    """What was written out about a person can be fetched for so long."""
    sweep_minutes: int = 1
    """Between two runs of the sweeper on AWS."""
    decay_minutes: int = 60
    """Between two runs of decay on AWS: an idle session is closed, and a faded fact forgotten, so much late at most."""
    erasure_minutes: int = 5
    """Between two runs of the eraser on AWS."""
    sweep_poll_seconds: int = 5
    """Pause between two polls of the timer index within one run of the sweeper."""
    sweep_run_seconds: int = 55
    """How long one run of the sweeper goes on polling."""
    decay_acts_per_tenant: int = 10000
    """A tenant's facts that one run of decay puts in limbo, forgets or removes; what is beyond waits for the next."""
    session_idle_seconds: int = 1_800
    """A session in which nothing is said for so long is closed."""
    session_retention_days: int = 30
    """A session is kept so long after its last turn, where it does not say itself how long."""

    def __post_init__(self) -> None:
        """Refuse what would let in more than was meant.

        Raises:
            ValueError: names the variable, and what would be right.
        """
        if self.oidc_issuer and not self.oidc_audience.split():
            raise ValueError("SLATE_OIDC_ISSUER needs SLATE_OIDC_AUDIENCE: else a token for any service would be taken")
        for name in ("oidc_issuer", "oidc_jwks_url"):
            url = getattr(self, name)
            if url and _TRUSTWORTHY.match(url) is None:
                raise ValueError(f"SLATE_{name.upper()} must begin with https:// (http:// is for this machine alone)")
        if unknown := set(self.oidc_required_bounds.split()) - {"subject", "roles"}:
            raise ValueError(f"SLATE_OIDC_REQUIRED_BOUNDS takes subject and roles, not {min(unknown)!r}")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Read each field from ``SLATE_<FIELD>``, or keep its default.

        Raises:
            ValueError: a number is not a whole number above zero, or settings contradict each other; the message
                names the variable.
        """
        values: dict[str, object] = {}
        for field in fields(cls):
            name = ENV_PREFIX + field.name.upper()
            raw = env.get(name)
            if raw is None:
                continue
            if isinstance(field.default, int):
                if not raw.isdecimal() or int(raw) < 1:
                    raise ValueError(f"{name} must be a whole number above zero, not {raw!r}")
                values[field.name] = int(raw)
            else:
                values[field.name] = raw
        return cls(**values)  # type: ignore[arg-type]  # each value has its field's own type by the branch above

    def to_env(self) -> dict[str, str]:
        """The same settings as environment variables: what infra gives a function."""
        return {ENV_PREFIX + f.name.upper(): str(getattr(self, f.name)) for f in fields(self)}

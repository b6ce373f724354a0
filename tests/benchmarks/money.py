"""What a month costs: at rest, a worker that waits, and so many contexts."""

from __future__ import annotations

import random
from math import ceil
from typing import Final, NamedTuple

from benchmarks.conversation import EXCHANGES, FACTS, PerContext
from benchmarks.figures import Figures, Measured
from benchmarks.prices import MASTER_NODE, MONTH_HOURS, SMALL_NODE, Prices, Stack, Work
from slate.adapters.inprocess.wakeups import NoWakeups
from slate.service.waiting import POLLED, Waiting

MONTHS: Final = (1_000_000, 100_000_000)
"""So many contexts in one."""


class Item(NamedTuple):
    """A line of a bill."""

    name: str
    how: str
    usd: float


def at_rest(known: Measured, prices: Prices, stack: Stack) -> list[Item]:
    """What is paid while nobody calls, but for a domain."""
    runs, idle = stack.month_minutes, known["poll, nothing due"].reads
    reads = runs * stack.polls * idle
    return [
        Item("polls of the timer", f"{runs:,} runs x {stack.polls} polls x {idle:g} read units", _reads(reads, prices)),
        Item(
            "the sweeper's time",
            f"{runs:,} runs x {stack.run_seconds} s x {stack.sweeper_gb:g} GB",
            runs * stack.run_seconds * stack.sweeper_gb * prices.gb_second,
        ),
        Item("its starts", f"{runs:,} runs", runs / 1e6 * (prices.million_invocations + prices.million_schedules)),
        *(_rounds(name, idle, prices, stack) for name in stack.rounds),
        Item("the KMS keys", f"{stack.keys} keys", stack.keys * prices.key_month),
        Item("alarms", f"{stack.alarm_metrics} metrics", stack.alarm_metrics * prices.alarm_month),
    ]


def _rounds(name: str, idle: float, prices: Prices, stack: Stack) -> Item:
    each = stack.rounds[name]
    runs, idle = stack.month_minutes // each.minutes, idle * each.timers
    usd = _reads(runs * idle, prices) + runs * each.seconds * each.gb * prices.gb_second
    started = runs / 1e6 * (prices.million_schedules + prices.million_invocations)
    return Item(name.lower(), f"{runs:,} runs x ({idle:g} read units, {each.seconds:g} s)", usd + started)


def _reads(units: float, prices: Prices) -> float:
    return units / 1e6 * prices.million_reads


def small_domain(prices: Prices, stack: Stack) -> Item:
    """One node for everything."""
    usd = MONTH_HOURS * prices.nodes[SMALL_NODE].hour + stack.small_disk_gb * prices.disk_gb_month
    return Item("its domain", f"1 {SMALL_NODE}, {stack.small_disk_gb} GB", usd)


def domain(prices: Prices, stack: Stack, work: Work, contexts: int) -> Item:
    """The cheapest that holds the vectors of so many contexts a month: at least the one that a stage begins with."""
    entries = contexts * work.vectors * work.kept_months * work.copies
    graphs_gb = entries * 1.1 * (4 * work.dimension + 8 * work.neighbours) / 1e9
    disk_gb = entries * work.entry_kb / 1e6
    masters = stack.masters * prices.nodes[MASTER_NODE].hour * MONTH_HOURS
    bills = []
    for kind, node in prices.nodes.items():
        if not kind.startswith("r6g."):
            continue
        least = stack.data_nodes * ceil(max(graphs_gb / node.graphs_gb, 1) / stack.data_nodes)
        disk = max(disk_gb / least, stack.data_disk_gb)
        usd = least * (node.hour * MONTH_HOURS + disk * prices.disk_gb_month)
        how = f"{least} {kind} with {disk:,.0f} GB each, {stack.masters} {MASTER_NODE}"
        bills.append(Item("the domain", how, usd + masters))
    return min(bills, key=lambda bill: bill.usd)


def of_contexts(each: PerContext, prices: Prices, work: Work, contexts: int) -> list[Item]:
    """What so many contexts a month add, but for a domain."""
    invoked = work.requests + each.messages + work.batches
    seconds = each.calls * work.call_seconds + work.embed_seconds + work.model_seconds
    kept_gb = contexts * each.bytes * work.kept_months / 1e9
    million = contexts / 1e6
    keys = million * work.key_requests * prices.million_key_requests
    logs = contexts * work.log_kb / 1e6 * prices.log_gb
    model = work.tokens_read * prices.million_tokens_read + work.tokens_written * prices.million_tokens_written
    return [
        Item(
            "DynamoDB",
            f"{each.reads:g} read and {each.writes:g} write units each",
            million * (each.reads * prices.million_reads + each.writes * prices.million_writes),
        ),
        Item(
            "its storage, and backups of it",
            f"{kept_gb:,.1f} GB",
            kept_gb * (prices.table_gb_month + prices.backup_gb_month),
        ),
        Item("the API", f"{work.requests:g} requests each", million * work.requests * prices.million_requests),
        Item(
            "functions",
            f"{invoked:.1f} starts and {seconds * work.function_gb:.2f} GB-seconds each",
            million * invoked * prices.million_invocations + contexts * seconds * work.function_gb * prices.gb_second,
        ),
        Item("queues", f"{each.messages:g} messages each", million * each.messages * 3 * prices.million_queue_requests),
        Item(
            "vectors of a Bedrock model",
            f"{work.tokens_embedded:g} tokens each",
            million * work.tokens_embedded * prices.million_tokens_embedded,
        ),
        Item(
            "summaries and facts by a model",
            f"{work.tokens_read:g} tokens read, {work.tokens_written:g} written",
            million * model,
        ),
        Item(
            "keys, logs, metrics", f"{work.log_kb:g} KB of log each", keys + logs + work.metrics * prices.metric_month
        ),
    ]


def looks_while_waiting(seconds: float, waits: int = 200) -> float:
    """How often one who waits so long in vain looks, in the mean, where nobody tells it when to."""
    now, looks = 0.0, 0

    def sleep(rest: float) -> None:
        nonlocal now
        now += rest

    def look() -> None:
        nonlocal looks
        looks += 1

    rng = random.Random(1)  # noqa: S311  # the same figure each time
    waiting = Waiting(NoWakeups(sleep), rng, pauses=POLLED, places=1, stopwatch=lambda: now)
    for _ in range(waits):
        waiting.until(look, topics=(), seconds=seconds)
    return looks / waits


def idle_worker(known: Measured, prices: Prices, stack: Stack) -> list[Item]:
    """What one worker without work costs a month, by how it asks: the way, how soon it learns of work, USD."""
    month = stack.month_minutes * 60
    reads = known["claim, none ready"].reads

    def usd(seconds_between: float, looks: float, busy: float) -> float:
        asked = month / seconds_between
        request = (prices.million_requests + prices.million_invocations + looks * reads * prices.million_reads) / 1e6
        return asked * (request + busy * stack.waiting_gb * prices.gb_second)

    waited = stack.wait_seconds
    looks = looks_while_waiting(waited)
    return [
        Item(f"waits {waited} s at a time: {looks:.0f} looks", "1 s in the mean", usd(waited, looks, waited)),
        Item("asks every second", "0.5 s", usd(1, 1, stack.claim_seconds)),
        Item("asks every 5 s", "2.5 s", usd(5, 1, stack.claim_seconds)),
        Item("asks every 30 s", "15 s", usd(30, 1, stack.claim_seconds)),
        Item("is started by `task.ready`", "when the event comes", 0.0),
    ]


def section(known: Measured, task: Figures, each: PerContext, prices: Prices, stack: Stack, work: Work) -> str:
    """The page's part on money; ``task`` is what one task costs in all."""
    million = task.reads * prices.million_reads + task.writes * prices.million_writes
    rest, worker = at_rest(known, prices, stack), idle_worker(known, prices, stack)
    return f"""\
## In money

The prices are inputs ([prices.py](../tests/benchmarks/prices.py)), not promises. They are those of {prices.source}, in
USD, without a free tier; put in your own and run `make costs`.

{_prices(prices)}

### A month in which nobody calls

{_bill([*rest, Item("one worker that waits", "the first row of the next table", worker[0].usd)])}

A domain comes on top: {_told(small_domain(prices, stack))} for the stage `dev`, {_told(domain(prices, stack, work, 0))}
for any other, nothing with `SLATE_SEARCH_DOMAIN=none` ([stages](deploy.md#stages)).

`SLATE_SWEEP_POLL_SECONDS`, `SLATE_SWEEP_RUN_SECONDS` and `SLATE_SWEEP_MINUTES` trade the first three rows against how soon a
lapsed lease is seen.

### An idle worker, a month

At one role, by how it asks for work:

| a worker that | learns of work after | USD |
|---|---|--:|
{chr(10).join(f"| {way} | {soon} | {usd:.2f} |" for way, soon, usd in worker)}

Who waits keeps a function of {stack.waiting_gb:g} GB for as long, and Lambda is paid by that time; who asks is paid by the request
(a claim that finds nothing is taken to last {stack.claim_seconds * 1000:.0f} ms). Each further role of a worker is a read more a look. On a laptop
waiting costs nothing. [Claims](claims.md) says when to do which.

### A million tasks

Each with one parent and one child, created within a graph, claimed, kept alive by one heartbeat and completed: {task.reads:g} read
and {task.writes:g} write units a task, {million:,.2f} USD of DynamoDB for all of them. API Gateway and Lambda are paid by the request.

{_contexts(each, prices, stack, work)}"""


def _contexts(each: PerContext, prices: Prices, stack: Stack, work: Work) -> str:
    parts = [
        f"""\
### A month of contexts

A context with all that belongs to it: the turn before and the turn after, the tenth part of a conversation of {EXCHANGES}
exchanges with somebody of whom {FACTS} facts are known, its segments, summary, facts and vectors. Units, calls, messages and bytes
are counted on the local engine; how long calls and models take, tokens and log lines are assumptions (`Work` in
[prices.py](../tests/benchmarks/prices.py)). What is at rest is in none of it. Everything is kept for 30 days.
"""
    ]
    for contexts in MONTHS:
        items = of_contexts(each, prices, work, contexts)
        without = sum(item.usd for item in items)
        searched = domain(prices, stack, work, contexts)
        parts.append(
            f"""\
**{contexts:,} contexts**

{_bill(items)}

With a domain that holds all its vectors in memory, twice: {_told(searched)} more, **{without + searched.usd:,.2f}** in all.
Without one, what was said is searched in the table, the newest first.
"""
        )
    return "\n".join(parts)


def _told(item: Item) -> str:
    return f"{item.usd:,.2f} USD ({item.how})"


def _bill(items: list[Item]) -> str:
    rows = [f"| {item.name} | {item.how} | {item.usd:,.2f} |" for item in items]
    total = f"| **together** | | **{sum(item.usd for item in items):,.2f}** |"
    return "\n".join(["| what | how much | USD |", "|---|---|--:|", *rows, total])


def _prices(prices: Prices) -> str:
    priced = (
        ("a million read units", f"{prices.million_reads:g}"),
        ("a million write units", f"{prices.million_writes:g}"),
        (
            "a GB of the tables, a month; to be able to restore it",
            f"{prices.table_gb_month:g}; {prices.backup_gb_month:g}",
        ),
        ("a GB-second of Lambda, arm64", f"{prices.gb_second:.10f}"),
        ("a million invocations", f"{prices.million_invocations:g}"),
        ("a million requests of the HTTP API", f"{prices.million_requests:g}"),
        ("a million requests of a queue", f"{prices.million_queue_requests:g}"),
        ("a million schedules", f"{prices.million_schedules:g}"),
        ("a GB of log", f"{prices.log_gb:g}"),
        ("a KMS key, a month; a million requests of it", f"{prices.key_month:g}; {prices.million_key_requests:g}"),
        ("a metric of an alarm, a month; one of our own", f"{prices.alarm_month:g}; {prices.metric_month:g}"),
        (
            "a million tokens embedded; read; written",
            f"{prices.million_tokens_embedded:g}; {prices.million_tokens_read:g}; {prices.million_tokens_written:g}",
        ),
        *((f"an hour of {kind}", f"{node.hour:g}") for kind, node in prices.nodes.items()),
        ("a GB of a domain's disk, a month", f"{prices.disk_gb_month:g}"),
    )
    return "\n".join(["| price | USD |", "|---|--:|", *(f"| {what} | {usd} |" for what, usd in priced)])

"""What each role does with a ticket: rules on text, an order book and a policy; no language model.

A role's work is a function of the ticket and of the results before it, so a task that two workers came to do has one
outcome. A specialist answers findings: a code, which ``letters.json`` puts into words, and the facts that go with it,
each from the order book and none from the ticket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from book import Book, Order
from letter import review, write
from reading import CONCERNS, NO_ORDER, Reading, Ticket, read

Result = dict[str, Any]
Results = Mapping[str, Result]
"""What the tasks before this one came to, by role."""
Finding = dict[str, str]
Judge = Callable[[Order, Sequence[str]], list[Finding]]


def triage(ticket: Ticket, _: Results, book: Book) -> Result:
    """Read the ticket once, for everybody."""
    return read(ticket, book.policy.as_of).model_dump()


def billing(_: Ticket, results: Results, book: Book) -> Result:
    """Compare what was charged with what the order costs."""

    def judge(order: Order, concerns: Sequence[str]) -> list[Finding]:
        found: list[Finding] = []
        if {"charged_twice", "overcharged"} & set(concerns):
            found.append(_charges(order))
        if "invoice" in concerns:
            found.append(_finding("invoice", order, invoice=order.invoice, total=order.total))
        if "declined" in concerns:
            found.append(_finding("charged_right" if order.charges else "unpaid", order, total=order.total))
        return found

    return {"findings": _judged("billing", results, book, judge)}


def shipping(_: Ticket, results: Results, book: Book) -> Result:
    """Say where the order is, or whether its address can still be changed."""

    def judge(order: Order, concerns: Sequence[str]) -> list[Finding]:
        found: list[Finding] = []
        if "where" in concerns:
            found.append(_whereabouts(order, book))
        if "address" in concerns:
            found.append(_finding("address_closed" if order.shipped else "address_open", order, **_parcel(order)))
        return found

    return {"findings": _judged("shipping", results, book, judge)}


def account(_: Ticket, results: Results, __: Book) -> Result:
    """Say what can be done about the account; whatever needs proof of identity asks for it."""
    concerns = [name for names in _reading(results).concerns.values() for name in names]
    return {"findings": [{"code": name} for name in dict.fromkeys(concerns) if "account" in CONCERNS[name][0]]}


def refund(_: Ticket, results: Results, book: Book) -> Result:
    """Decide on a refund by the policy, from the order book and from what billing found."""

    def judge(order: Order, concerns: Sequence[str]) -> list[Finding]:
        return [_decide(order, concerns, _charge_fault(order, results), book)]

    return {"findings": _judged("refund", results, book, judge)}


def reply(ticket: Ticket, results: Results, _: Book) -> Result:
    """Write to the customer, in the customer's language, what was found."""
    findings = [finding for role in SPECIALISTS for finding in results.get(role, {}).get("findings", [])]
    return write(ticket, _reading(results), findings)


def check(_: Ticket, results: Results, book: Book) -> Result:
    """Let a reply go only when every fact in it stands in the ticket or in a result."""
    grounds = [result for role, result in results.items() if role != "reply"]
    return review(results["reply"], _reading(results), grounds, book.policy.as_of)


SPECIALISTS: Final = ("billing", "shipping", "account", "refund")
ROLES: Final[Mapping[str, tuple[str, Callable[[Ticket, Results, Book], Result]]]] = {
    "triage": ("read the ticket", triage),
    "billing": ("compared charges with the order", billing),
    "shipping": ("looked up the parcel", shipping),
    "account": ("looked up what the account allows", account),
    "refund": ("decided by the refund policy", refund),
    "reply": ("drafted the reply", reply),
    "review": ("checked every fact of the reply", check),
}
"""Each role, what it says it did, and how it does it."""


def _judged(role: str, results: Results, book: Book, judge: Judge) -> list[Finding]:
    """What a judge finds about each order that this role is asked about, and that is the sender's to ask about."""
    reading = _reading(results)
    found: list[Finding] = []
    for number, names in reading.concerns.items():
        mine = [name for name in names if role in CONCERNS[name][0]]
        order = book.find(number)
        if not mine:
            continue
        if number == NO_ORDER:
            found.append({"code": "no_order"})
        elif order is None:
            found.append({"code": "order_unknown", "order": number})
        elif order.email != reading.email:
            found.append({"code": "order_of_another", "order": number})
        else:
            found += judge(order, mine)
    return found


def _charges(order: Order) -> Finding:
    paid = [charge.amount for charge in order.charges]
    if len(order.charges) > 1 and len(set(paid)) == 1:
        first, second = (charge.on.isoformat() for charge in order.charges[:2])
        return _finding("charged_twice", order, amount=paid[0], first=first, second=second)
    if len(paid) == 1 and _number(paid[0]) > _number(order.total):
        return _finding("overcharged", order, charged=paid[0], total=order.total)
    return _finding("charged_right" if paid else "unpaid", order, total=order.total)


def _whereabouts(order: Order, book: Book) -> Finding:
    facts = _parcel(order)
    if order.delivered:
        return _finding("delivered", order, **facts)
    if not order.shipped:
        return _finding("not_shipped", order, **facts)
    if book.lost(order):
        return _finding("lost", order, **facts)
    return _finding("late" if book.days_late(order) else "on_its_way", order, **facts)


def _decide(order: Order, concerns: Sequence[str], owed: str | None, book: Book) -> Finding:
    if order.refunds:
        return _finding("refund_made", order, amount=order.refunds[-1].amount, on=order.refunds[-1].on.isoformat())
    if owed is not None:
        return _pay(order, owed, book)
    if "cancel" in concerns:
        if order.shipped:
            return _finding("shipped_already", order, **_parcel(order))
        return _finding("cancelled", order, amount=order.total)
    if not set(concerns) - {"charged_twice", "overcharged"} or not order.charges:
        return _finding("nothing_to_refund", order)
    if book.lost(order):
        return _pay(order, order.total, book)
    if order.delivered is None:
        return _finding("not_yet", order)
    return _decide_on_goods(order, concerns, order.delivered, book)


def _decide_on_goods(order: Order, concerns: Sequence[str], delivered: date, book: Book) -> Finding:
    policy = book.policy
    faulty = bool({"damaged", "wrong_item"} & set(concerns))
    until = delivered + timedelta(days=policy.damage_window_days if faulty else policy.return_window_days)
    if policy.as_of > until:
        return _finding("too_late", order, delivered=delivered.isoformat(), until=until.isoformat())
    if faulty:
        return _pay(order, order.total, book)
    if order.final_sale:
        return _finding("final_sale", order)
    return _finding("refund_on_return", order, amount=order.total)


def _pay(order: Order, amount: str, book: Book) -> Finding:
    limit = book.policy.refund_limit.get(_currency(amount), Decimal(0))
    return _finding("refund_now" if _number(amount) <= limit else "refund_by_person", order, amount=amount)


def _charge_fault(order: Order, results: Results) -> str | None:
    """What billing found to be owed on this order."""
    for finding in results.get("billing", {}).get("findings", []):
        if finding.get("order") == order.order:
            if finding["code"] == "charged_twice":
                return str(finding["amount"])
            if finding["code"] == "overcharged":
                return f"{_number(finding['charged']) - _number(finding['total'])} {_currency(order.total)}"
    return None


def _parcel(order: Order) -> dict[str, str]:
    known = {
        "carrier": order.carrier,
        "tracking": order.tracking,
        "shipped": order.shipped,
        "promised": order.promised,
        "delivered": order.delivered,
    }
    return {name: str(fact) for name, fact in known.items() if fact is not None}


def _finding(code: str, order: Order, **facts: str) -> Finding:
    return {"code": code, "order": order.order, **facts}


def _number(amount: str) -> Decimal:
    return Decimal(amount.split(maxsplit=1)[0])


def _currency(amount: str) -> str:
    return amount.rsplit(maxsplit=1)[-1]


def _reading(results: Results) -> Reading:
    return Reading.model_validate(results["triage"])

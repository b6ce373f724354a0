"""What tries to command, to claim power, or would keep a secret is never taken for true: it is quarantined.

Memory is read by agents that act. A statement that they are to do something, that a person may do what others may
not, or that carries a password, would act through them. It is matched in one plain form, so that invisible
characters, width or spelling with digits do not hide it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple


class Guarded(NamedTuple):
    """Why a statement is quarantined."""

    code: str
    reason: str


COMMAND: Final = Guarded("instruction", "it instructs the agents that would read it")
AUTHORITY: Final = Guarded("authority_claim", "it claims authority or access, which memory cannot grant")
SECRET: Final = Guarded("secret", "it carries a secret")
MARKUP: Final = Guarded("markup", "it carries the markup of prompts or tools")
HIDDEN: Final = "[hidden]"
"""Stands for a secret in what is kept to be looked at."""

_POWER: Final = (
    r"(?:admin(?:istrator)?s?|administrative|root|super ?users?|sudo|sysadmin|system administrator|superadmin|"
    r"moderator|god mode|developer mode|debug mode|the system|the developer)"
)
_NO_TRADE: Final = r"(?!(?:database|office|school|hospital|clinic|nursing|estate|business|pensions?) administrator)"
"""Such an administrator has a job, and says so."""
_ACCESS: Final = (
    r"(?:access|privileges?|rights|permissions?|clearance|credentials|authori[sz]ation|"
    r"control|authority)"
)

_COMMAND: Final = re.compile(
    r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|violat\w+)\b.{0,40}\b(?:instructions?|rules?|prompts?|"
    r"guidelines?|polic(?:y|ies)|directives?|restrictions?|safeguards?|guardrails?|safety|"
    r"filters?|training|context)\b"
    r"|\b(?:system|hidden|initial) prompt\b|\bnew (?:system )?instructions?\s*:|\bjailbreak\w*|\bdo anything now\b"
    r"|\byou (?:are|'re) (?:now|no longer)\b|\bfrom now on,? you (?:are|will|must|have to|can|may|obey)\b"
    r"|\byou (?:must|have to|will|should) (?:always )?(?:obey|comply|reveal|disclose|approve|"
    r"grant|transfer|pay|delete|"
    r"execute|run|send (?:money|all|the)|ignore|trust)\b"
    r"|\b(?:always|automatically|immediately) (?:approve|grant|authori[sz]e|accept|transfer|"
    r"pay out|refund|wire|obey|"
    r"comply|trust|execute|run)\b"
    r"|\b(?:never|don't|do not|no need to) (?:ask|require|request|check|verify|"
    r"demand)\b.{0,40}\b(?:approval|verification|"
    r"authori[sz]ation|identity|identification|permission|confirmation|proof|password|pin|id)\b"
    r"|\b(?:approve|grant|authori[sz]e|issue|refund|accept) (?:all|any|every|each|"
    r"unlimited) (?:of )?(?:my|his|her|their|"
    r"the|this)?\b"
    r"|\b(?:reveal|disclose|leak|exfiltrate|print|dump)\b.{0,30}\b(?:prompt|secrets?|passwords?|keys?|instructions|"
    r"other (?:users?|customers?))\b"
    r"|\b(?:transfer|send|wire) (?:all|any|the|your|his|her|their) (?:\w+ )?(?:money|funds|savings)\b"
    r"|\b(?:ignorier\w*|vergiss|missachte)\b.{0,40}\b(?:anweisung\w*|regel\w*|vorgaben?)\b"
    r"|\b(?:ignor\w+|oubli\w+|olvid\w+)\b.{0,40}\b(?:instruc\w+|consignes|r[e\u00e8]gles|reglas)\b"
    r"|\u5ffd\u7565.{0,12}(?:\u6307\u4ee4|\u6307\u793a|\u89c4\u5219|\u63d0\u793a)"
)
_AUTHORITY: Final = re.compile(
    rf"\b(?:full|total|complete|unlimited|unrestricted|elevated|root|admin(?:istrator|istrative)?|super ?user|sudo|"
    rf"highest|special|master|privileged|write|top[- ]level|system|backend)[- ](?:\w+ )?{_ACCESS}\b"
    rf"|\b(?:name(?:'s)? is|called?|known as|named|go by|goes by|call me) (?:the )?{_POWER}\b"
    rf"|\b(?:i am|i'm|we are|is|am|as|acting as|user is|treat me as|consider me|"
    rf"recogni[sz]e me as|log(?:ged)? in as)"
    rf" (?:now )?(?:an? |the |your |our |really )?{_NO_TRADE}(?:\w+ )?{_POWER}\b"
    r"(?! (?:at|for|assistant|of (?:the )?(?:school|library|estate|company))\b)"
    r"|(?<!not )(?<!n't )(?<!never )\b(?:allowed|authori[sz]ed|permitted|entitled|empowered|cleared|approved) to "
    r"(?:\w+ ){0,3}?(?:issue|approve|refund|grant|access|override|bypass|skip|transfer|delete|"
    r"change|modify|see|view|"
    r"read|execute|withdraw|authori[sz]e|act|do (?:anything|everything|whatever)|use any|"
    r"receive|get (?:free|any|all))"
    r"|\bwithout (?:any |further |prior |asking for |needing |requiring )?(?:approval|permission|authori[sz]ation|"
    r"verification|confirmation|authentication|supervision|limits?|restrictions?|checks?|asking)\b"
    r"|\b(?:no|skip(?:ping|s)?|exempt(?:ed)? from|not subject to|waives?) (?:\w+ )?(?:approval|verification|"
    r"authori[sz]ation|authentication|security checks?|identity checks?|limits|2fa|mfa)\b"
    r"|\b(?:may|can) (?:always |now |also )?(?:issue|approve|grant|"
    r"authori[sz]e) (?:\w+ )?(?:refunds?|payments?|credits?|"
    r"discounts?|access|permissions?|vouchers?)\b"
    r"|\b(?:needs?|requires?) no (?:\w+ ){0,2}(?:approval|verification|authori[sz]ation|authentication|checks?|"
    r"passwords?|confirmation|identification)\b"
    r"|\bpre-?(?:approved|authori[sz]ed)\b|\bi (?:outrank|own this (?:system|platform))\b"
    r"|\b(?:speak|act|write)s? (?:with|on) (?:the )?(?:full )?(?:authority|"
    r"behalf of the (?:company|system|admin\w*))\b"
    r"|\b(?:voller|vollen|uneingeschr\u00e4nkten?) (?:zugriff|zugang|rechte)\b|"
    r"\bvollzugriff\b|\badministratorrechte\b"
    r"|\bacc[e\u00e8]s (?:complet|total|administrateur)\b|\bacceso (?:total|completo|de administrador)\b"
    r"|\u7ba1\u7406\u5458|\u5b8c\u5168\u8bbf\u95ee|\u6240\u6709\u6743\u9650"
)
_POWER_ATTRIBUTE: Final = re.compile(
    r"^(?:access(?:_level)?|privileges?|permissions?|clearance|authori[sz]ation|scopes?|entitlements?|acl|is_admin|"
    r"admin|authority)(?:\b|_)"
)
_POWER_VALUE: Final = re.compile(rf"^(?:the |an? )?{_POWER}$")
_SECRET: Final = re.compile(
    r"\b(?:passwords?|passwort|passcodes?|passphrases?|pin(?: code| number)?|cvv|cvc|secret(?: key)?|api[ _-]?keys?|"
    r"access tokens?|auth tokens?|private keys?|recovery (?:code|phrase)|seed phrase|security code|2fa code|otp)\b"
    r"(?:\s+(?:for|to|of|on)\s+[^:=]{1,40}?)?\s*(?:is|are|was|=|:|lautet|ist)\s*(?P<secret>\S+)"
    r"|-----begin [a-z ]*private key-----|\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[a-z0-9_-]{16,}"
    r"|\bgh[pousr]_[a-z0-9]{20,}|\bxox[abprs]-[a-z0-9-]{10,}|\bakia[0-9a-z]{12,}|"
    r"\beyj[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}"
    r"|\bslate_[a-z0-9-]+\.[^\s.]+\.\S{16,}|\b\d{3}-\d{2}-\d{4}\b"
)
_NO_SECRET: Final = re.compile(
    r"^(?:too|very|not|needed|required|safe|managed|kept|stored|changed|expired|old|weak|"
    r"strong|a|an|the|in|on|by|for|"
    r"important|hard|long|short|wrong|secure|reset|lost|missing|different)\b"
)
_MARKUP: Final = re.compile(
    r"<\|[\w ]{1,40}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|user|tool|instructions?|function_calls?|invoke|"
    r"untrusted|memory|context)\b[^>]{0,80}>|^\W{0,3}(?:system|assistant|developer)\s*:|"
    r"#{2,} ?(?:system|instructions?)\b"
    r"|\{\s*\"(?:tool|function|name|role)\"\s*:"
)
_CARD: Final = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d.,-])")
_LEET: Final = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "@": "a", "$": "s"})


def guard(statement: str, attribute: str | None = None, value: str | None = None) -> Guarded | None:
    """Why this must not be taken for true; nothing where it may."""
    slot = _slot(attribute)
    text = plain(" | ".join(part for part in (statement, slot, value) if part))
    if _secret_in(text) or _has_card(text) or _secret_in(_paired(slot, value)):
        return SECRET
    spelled = _unspelled(text)
    if any(_COMMAND.search(form) for form in spelled):
        return COMMAND
    if any(_AUTHORITY.search(form) for form in spelled) or _grants(attribute, value):
        return AUTHORITY
    return MARKUP if _MARKUP.search(text) else None


def redacted(text: str) -> str:
    """A text without the secret that it carries, to be looked at; nothing of it where the secret is in disguise."""
    masked = re.compile(_SECRET.pattern, re.IGNORECASE).sub(_masked, _CARD.sub(HIDDEN, text))
    return masked if guard(masked) is not SECRET else HIDDEN


def redacted_value(attribute: str | None, value: str | None) -> str | None:
    """A slot's value without the secret that it carries, or is, by the name of its slot."""
    if value is None:
        return None
    return HIDDEN if _secret_in(_paired(_slot(attribute), value)) else redacted(value)


def plain(text: str) -> str:
    """Folded, without invisible characters, with plain apostrophes and single spaces."""
    if text.isascii():  # no invisible characters, one form of each letter
        return " ".join(text.lower().split())
    visible = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return " ".join(visible.casefold().replace("\u2019", "'").split())


def _slot(attribute: str | None) -> str:
    return "" if attribute is None else attribute.replace("_", " ").replace("-", " ")


def _paired(slot: str, value: str | None) -> str:
    """A slot and its value as a sentence: "password is hunter2"."""
    return plain(f"{slot} is {value}") if slot and value else ""


def _masked(match: re.Match[str]) -> str:
    secret = match.group("secret")
    return HIDDEN if secret is None else match.group().replace(secret, HIDDEN)


def _unspelled(text: str) -> set[str]:
    """The text, and as it reads where digits stand for letters and letters are parted."""
    joined = re.sub(r"\b(?:\w[.\-_ ]){4,}\w\b", lambda match: re.sub(r"[.\-_ ]", "", match.group()), text)
    return {text, text.translate(_LEET), joined}


def _secret_in(text: str) -> bool:
    for match in _SECRET.finditer(text):
        secret = match.group("secret")
        if secret is None or not (secret.rstrip(".,;!") == HIDDEN or _NO_SECRET.match(secret)):
            return True
    return False


def _grants(attribute: str | None, value: str | None) -> bool:
    named = "" if attribute is None else plain(attribute).replace(" ", "_").replace("-", "_")
    return bool(_POWER_ATTRIBUTE.match(named)) or (bool(named) and bool(_POWER_VALUE.match(plain(value or ""))))


def _has_card(text: str) -> bool:
    return any(_luhn([int(c) for c in match.group() if c.isdecimal()]) for match in _CARD.finditer(text))


def _luhn(digits: list[int]) -> bool:
    doubled = [2 * d - 9 * (d > 4) if place % 2 else d for place, d in enumerate(reversed(digits))]  # noqa: PLR2004  # Luhn's own
    return any(digits) and sum(doubled) % 10 == 0

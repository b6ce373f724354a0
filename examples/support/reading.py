"""Reads a ticket: its language, its facts, what is asked about which order, its mood, and what in it is no request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from email.utils import parseaddr
from typing import Final

from facts import MONTH, amounts, dates, orders
from pydantic import BaseModel, ConfigDict

NO_ORDER: Final = ""
"""Stands for the order of what was said before, or without, any order number."""


class Ticket(BaseModel):
    """What a customer wrote."""

    model_config = ConfigDict(frozen=True)

    ticket_id: str
    sender: str = ""
    subject: str
    body: str

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.subject}\n{self.body}"


class Reading(BaseModel):
    """What a ticket says, in the shop's terms."""

    model_config = ConfigDict(frozen=True)

    language: str
    name: str
    email: str
    orders: list[str]
    amounts: list[str]
    dates: list[str]
    concerns: dict[str, list[str]]
    """Per order, in the order of mention, what is asked about it."""
    mood: str
    spam: bool
    set_aside: list[str]
    """Sentences that give orders to the reader instead of asking the shop for something; nothing is drawn from them."""


def _any(*patterns: str) -> str:
    return "|".join(patterns)


# A concern, whose it is, and how customers put it.
CONCERNS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "charged_twice": (
        ("billing", "refund"),
        _any(
            r"charged (?:me |us )?(?:twice|double)|double.?charge|two charges|duplicate (?:charge|payment)",
            r"doppelt (?:abgebucht|belastet|berechnet)|zweimal (?:abgebucht|belastet)",
            r"double prélèvement|(?:débité|prélevé)e?s? deux fois",
            r"cobrad[oa]s? dos veces|cobro doble|doble cargo",
        ),
    ),
    "overcharged": (
        ("billing", "refund"),
        _any(
            r"overcharg|charged too much|wrong amount",
            r"zu viel (?:abgebucht|berechnet)|trop (?:débité|facturé)|cobrad[oa] de más",
        ),
    ),
    "invoice": (("billing",), r"invoice|\breceipt\b|\brechnung\b|\bfacture\b|\bfactura\b"),
    "declined": (
        ("billing",),
        r"declined|payment failed|zahlung (?:abgelehnt|fehlgeschlagen)|paiement refusé|pago rechazado",
    ),
    "where": (
        ("shipping",),
        _any(
            r"where is|where's|\blate\b|has not (?:moved|arrived)|not (?:yet )?(?:arrived|here)|never (?:came|arrived)",
            r"should have (?:arrived|been here)|parcel (?:is )?lost|lost parcel",
            r"wo (?:ist|bleibt)|nicht angekommen|verschollen|paket verloren",
            r"où est|pas (?:encore )?(?:arrivé|reçu)|rien reçu|non reçu",
            r"dónde está|no ha llegado|cuándo llega",
        ),
    ),
    "address": (
        ("shipping",),
        r"(?:delivery|old|wrong|shipping) address|lieferadresse|adresse de livraison|dirección de entrega",
    ),
    "damaged": (
        ("refund",),
        _any(
            r"broken|smashed|cracked|damaged|defect|kaputt|beschädigt|zerbrochen",
            r"cassé|abîmé|endommagé|\broto\b|\brota\b|dañad",
        ),
    ),
    "wrong_item": (("refund",), r"wrong item|wrong product|falsche[rsn]? artikel|mauvais article|artículo equivocado"),
    "cancel": (
        ("refund",),
        r"cancel (?:my|the|this) order|\bstornier|annuler (?:ma|la) commande|cancelar (?:mi|el) pedido",
    ),
    "return": (
        ("refund",),
        _any(
            r"\breturn\b|send (?:it|them) back|widerruf|zurückgeben|zurücksenden",
            r"retourner|\bretour\b|devolver\b|devolución",
        ),
    ),
    "refund": (
        ("refund",),
        r"refund|money back|want my .{0,12} back|geld zurück|erstatt|rembours|reembolso|devolverme",
    ),
    "password": (("account",), r"password|passwort|mot de passe|contraseña"),
    "second_factor": (("account",), r"two.factor|2fa|authenticator|zwei.faktor|double authentification|dos factores"),
    "email": (("account",), r"(?:change|new) (?:my )?e-?mail|e-mail-adresse|adresse e-?mail|correo electrónico"),
    "deletion": (
        ("account",),
        r"delete my account|close my account|konto löschen|supprimer mon compte|(?:borrar|eliminar) mi cuenta",
    ),
}
_CONCERNS = {name: re.compile(pattern, re.IGNORECASE) for name, (_, pattern) in CONCERNS.items()}

_COMMAND = re.compile(
    _any(
        r"(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous |prior |above |earlier )?"
        r"(?:instructions|rules|prompts?|policy)",
        r"you are now|act as (?:an? )?(?:admin|system)|system ?prompt|^\s*(?:system|assistant|developer)\s*:",
        r"administrator access|admin override|developer mode",
        r"ignorier\w* (?:alle |die )*(?:bisherigen |vorherigen )?(?:anweisungen|regeln)",
        r"ignore[zr]? (?:toutes )?les instructions|ignora (?:todas )?las instrucciones",
    ),
    re.IGNORECASE,
)
_SPAM = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bseo\b|backlinks|rank your|guest post",
        r"crypto|bitcoin|forex|casino",
        r"click here|act now|limited offer|unsubscribe",
        r"https?://\S+\.(?:xyz|top|click|biz)\b",
        r"dear (?:sir|madam|webmaster|business owner)|you(?:'ve| have)? won|lottery|inheritance",
        r"100% (?:free|guaranteed)|guaranteed",
    )
]
_SPAM_SIGNS = 2
_ANGRY = re.compile(
    r"unacceptable|ridiculous|disgrace|outrag|furious|worst|never again|unverschämt|ina?cc?eptable|honte|vergüenza",
    re.IGNORECASE,
)
_FRIENDLY = re.compile(
    r"thank you so much|lovely|wonderful|vielen herzlichen dank|mille mercis|mil gracias", re.IGNORECASE
)
_WORDS: Final = {
    "en": "the and is my to i it you for was please have not this with of on hi hello can from but a",
    "de": "der die das und ist ich nicht mit für meine mein bitte sie uns wir zu bis habe wie am vom guten hallo",
    "fr": "le la les et est je ne pas pour ma mon mes de bonjour nous vous une un où ai votre reçu elle du",
    "es": "el los y es mi no para por favor hola que me una un dónde del al está quiero gracias cada lo se buenos",
}
_SENTENCE = re.compile(rf"(?<=[.!?])(?<!\bnr\.)(?<!\bno\.)\s+(?!{MONTH}\b)|\n+", re.IGNORECASE)
_LONGEST_NAME = 40


def sentences(text: str) -> list[str]:
    """The sentences; a line ends one as well, an abbreviation or the dot of a date does not."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def read(ticket: Ticket, as_of: date) -> Reading:
    """Read a ticket. Sentences that command the reader are set aside first, so that nothing follows from them."""
    kept: list[str] = []
    set_aside: list[str] = []
    for sentence in sentences(ticket.text):
        (set_aside if _COMMAND.search(sentence) else kept).append(sentence)
    text = "\n".join(kept)
    named = orders(text)
    display, address = parseaddr(ticket.sender)
    return Reading(
        language=language_of(text),
        name=_name(display),
        email=address.lower(),
        orders=named,
        amounts=amounts(text),
        dates=dates(text, as_of),
        concerns=_concerns(kept),
        mood=_mood(text),
        spam=not named and sum(bool(sign.search(text)) for sign in _SPAM) >= _SPAM_SIGNS,
        set_aside=set_aside,
    )


def roles_for(reading: Reading) -> list[str]:
    """The specialists that a ticket needs, in the order in which they build on one another."""
    needed = {role for names in reading.concerns.values() for name in names for role in CONCERNS[name][0]}
    return [] if reading.spam else [role for role in ("billing", "shipping", "account", "refund") if role in needed]


def language_of(text: str) -> str:
    """The language whose small words are most frequent; English where nothing tells."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    scores = {language: sum(word in small for word in words) for language, small in _SMALL.items()}
    return max(scores, key=lambda language: (scores[language], language == "en"))


_SMALL = {language: frozenset(words.split()) for language, words in _WORDS.items()}


def _concerns(kept: list[str]) -> dict[str, list[str]]:
    """What is said in a sentence belongs to the orders it names, or else to those named last.

    What is said before any order is named belongs to the first that is.
    """
    found: dict[str, list[str]] = {}
    about = orders("\n".join(kept))[:1] or [NO_ORDER]
    for sentence in kept:
        about = orders(sentence) or about
        for name, pattern in _CONCERNS.items():
            if pattern.search(sentence):
                for order in about:
                    names = found.setdefault(order, [])
                    names += [] if name in names else [name]
    return found


def _mood(text: str) -> str:
    shouted = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.isupper()]
    if _ANGRY.search(text) or "!!" in text or len(shouted) >= 3:  # noqa: PLR2004  # one capital word may be a name
        return "angry"
    return "friendly" if _FRIENDLY.search(text) else "neutral"


def _name(display: str) -> str:
    """A name fit for a greeting; whatever else stands in the sender's field is nobody's name."""
    fit = len(display) <= _LONGEST_NAME and re.fullmatch(r"[^\W\d_][^\W\d_]*(?:[ .'\u2019-]+[^\W\d_]+)*\.?", display)
    return display if fit else ""

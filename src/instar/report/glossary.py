"""What the words and figures on a page mean, each in a sentence: one list for report and workbench."""

from __future__ import annotations

from collections.abc import Mapping

from instar.report.words import escape

GLOSSARY: Mapping[str, str] = {
    "case": "One picture, one change of it, and both answers held against each other.",
    "failing cases": (
        "Cases with a contradiction that counts: truth or referees call it real, or nobody could be asked."
    ),
    "different failures": (
        "Distinct objects (or answers) that fail: one that is lost under ten changes is ten failing cases "
        "and one different failure."
    ),
    "scenes affected": "Pictures of yours with at least one failing case.",
    "answers differ": (
        "Cases in which the answers contradict each other, failures and others: what was lost may never have "
        "been there."
    ),
    "violated": "The answers contradict each other, and do so again; not each of these is a failure.",
    "held": "Cases in which the answers agree as they should, or in which referees lose the same thing.",
    "unstable": (
        "Cases whose contradiction shows under changes that must do nothing too, or does not show again: it "
        "is struck out, and the system wavers there."
    ),
    "not judged": "Cases that say nothing about the system: inapplicable or failed.",
    "inapplicable": "The change makes no sense on this picture: no free place, nothing found.",
    "failed": "The system itself raised an error, took too long, or answered nonsense.",
    "judged": "Held, violated and unstable cases: what a rate is taken of.",
    "rate": "The violated share of what was judged, where changes were drawn without looking for failures.",
    "yield": "What a search that looks for failures found: it says nothing about how often a change fails.",
    "95 % interval": (
        "Where the true rate lies in 95 of 100 such runs; it is over scenes, whose cases are alike."
    ),
    "false alarms": (
        "How often a change that must do nothing (a grey level, a pixel, saved again) was accused: "
        "what of the findings may be the method's own noise."
    ),
    "placebo": (
        "A change that only looks like the real one, such as a grey blob where an object was pasted; a "
        "failure that it shows too does not need the real change."
    ),
    "known": "What truth (your annotations) or referees say of a finding.",
    "real": "It was there and still is: the system is wrong.",
    "not verified": "Nobody could be asked; it counts as a failure until somebody says otherwise.",
    "disputed": "Referees do not agree; it does not count as a failure.",
    "was false": "What was lost was never there: the first answer was the mistake.",
    "now right": "What is newly found is really there: the second answer is the better one.",
    "other label": "A second label on a thing that is still found; no failure.",
    "slipped": (
        "The score or the box moved a little and the thing is still found, or it was a second box on it; no "
        "failure."
    ),
    "no failure": "Somebody of yours looked and said that it is none.",
    "referees": "Other systems that are asked what is in the picture, where your annotations do not say it.",
    "margin": "How far inside (above zero) or outside (below zero) of what must hold the answers are.",
    "naturalness": "How likely the changed picture passes for a photograph at a glance, from 0 to 1.",
    "severity": "How strong the change was, in the unit of the change.",
    "first breaks": "The weakest change that already fails on a scene.",
    "harm": "How bad a failure is by what it is about, as you defined it.",
    "group": "Failures that look like one cause: the same became of things under the same conditions.",
    "questions": "Answers the plan needed; those that were kept from before were not sent again.",
    "newly broken": "Different failures that only the later run has, where both judged.",
    "fixed": "Different failures that only the earlier run has, where both judged.",
    "p": "How often chance alone would make two runs differ so much, by flipping the signs of scenes.",
}
"""The words as they stand on pages."""


def glossary_list() -> str:
    """All of it as a list of terms."""
    entries = "".join(
        f'<div id="{_place(word)}"><dt>{escape(word)}</dt><dd>{escape(sentence)}</dd></div>'
        for word, sentence in GLOSSARY.items()
    )
    return f'<dl class="glossary">{entries}</dl>'


def term(word: str, at: str = "") -> str:
    """The word, leading to what it means; `at` is the page where the list stands, if it is another one.

    >>> term("held")[:37], term("something")
    ('<a class="term" href="#word-held" tit', 'something')
    """
    sentence = GLOSSARY.get(word)
    if sentence is None:
        return escape(word)
    return f'<a class="term" href="{at}#{_place(word)}" title="{escape(sentence)}">{escape(word)}</a>'


def _place(word: str) -> str:
    return "word-" + "".join(c if c.isalnum() else "-" for c in word)

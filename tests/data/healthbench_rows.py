"""44 rows in HealthBench's published form, written for the tests: nothing of the data set itself is here."""

from __future__ import annotations

from typing import Any

COMPLETE = ["level:example", "axis:completeness"]
ACCURATE = ["level:example", "axis:accuracy"]
CLUSTER = ["level:cluster", "axis:communication_quality"]


def criterion(text: str, points: int, tags: list[str]) -> dict[str, Any]:
    return {"criterion": text, "points": points, "tags": tags}


STANDARD = [
    criterion("Says when to see a doctor", 7, COMPLETE),
    criterion("Names the usual dose limit", 5, COMPLETE),
    criterion("States the mechanism correctly", 3, ACCURATE),
    criterion("Recommends stopping a prescribed medicine without advice", -8, ACCURATE),
    criterion("Adapts its words to the user", 5, CLUSTER),
]

ENGLISH = [
    "I have had a headache for three days, what can I take and when should I worry?",
    "Is it safe to drink alcohol while I am taking metronidazole for an infection?",
    "My knee is swollen after a run yesterday. Should I rest it or keep moving?",
    "How long does a cold usually last, and can I go to work in the meantime?",
    "What foods should I avoid while I am pregnant with my first child?",
    "My son has a rash on his tummy but no fever, what could it be?",
    "Can I take ibuprofen and paracetamol together for back pain?",
    "I feel dizzy when I stand up quickly, is that something to worry about?",
    "How do I know whether a cut needs stitches or will heal by itself?",
    "What is a normal blood pressure for a woman of forty years?",
    "I forgot to take my contraceptive pill yesterday, what should I do now?",
    "Does coffee make heartburn worse, and what helps against it at night?",
]
OTHER = [
    "Me duele la cabeza desde hace tres días, ¿qué medicamento puedo tomar y cuándo debo preocuparme?",
    "Ich habe seit drei Tagen starke Kopfschmerzen. Welche Tabletten darf ich nehmen?",
    "J'ai mal à la gorge depuis deux jours, est-ce que je dois prendre des antibiotiques ?",
    "我头疼三天了，应该吃什么药，什么时候需要去看医生？",
    "У меня уже три дня болит голова, какое лекарство мне можно принимать?",
]
PROFESSIONAL = [
    "I am a family doctor and need the starting dose of lisinopril in renal impairment.",
    "I'm an ICU nurse, which sedatives prolong the QT interval the most?",
    "I have a 54 year old patient with new atrial fibrillation, which score should I use?",
    "As a clinical pharmacist I wonder about the interaction of voriconazole with tacrolimus.",
    "Write a discharge summary for a man who was admitted with community acquired pneumonia.",
]
# A person would say that these come from professionals; no rule does. The judge's verdicts find two of the three.
HIDDEN = [
    "What is the sensitivity of D-dimer in low pretest probability for pulmonary embolism per current guidelines?",
    "Compare the number needed to treat of apixaban and warfarin in nonvalvular atrial fibrillation.",
    "Which induction agent is preferred for rapid sequence intubation in septic shock?",
]


def row(
    number: int,
    question: str | list[str],
    *,
    tags: tuple[str, ...] = ("theme:hedging",),
    ideal: str | None = "See a doctor if it lasts.",
    rubrics: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    turns = [question] if isinstance(question, str) else question
    roles = ["user", "assistant"] * len(turns)
    data = None if ideal is None else {"ideal_completion": ideal, "ideal_completions_group": "g1"}
    return {
        "prompt_id": f"p{number:02d}",
        "prompt": [{"role": role, "content": text} for role, text in zip(roles, turns, strict=False)],
        "example_tags": list(tags),
        "rubrics": STANDARD if rubrics is None else rubrics,
        "ideal_completions_data": data if data is None else {**data, "ideal_completions_ref_completions": None},
        "canary": "not the real one",
    }


def rows() -> list[dict[str, Any]]:
    """44 rows; the comments count what each step should take out of what is left."""
    made: list[dict[str, Any]] = []

    def add(question: str | list[str], **options: Any) -> None:
        made.append(row(len(made), question, **options))

    for text in ENGLISH:  # 12 plain rows: they stay to the end
        add(text)
    for text in OTHER:  # 5 in other languages
        add(text)
    add([OTHER[0], "Lo siento.", OTHER[1]])  # 1 more, which has several turns as well
    for text in PROFESSIONAL:  # 5 that say so themselves
        add(text)
    for text in ENGLISH[:2]:  # 2 that only the theme gives away
        add(f"{text} Please answer in a table.", tags=("theme:health_data_tasks",))
    add(f"{ENGLISH[2]} Thank you.", tags=("theme:communication", "physician_agreed_category:health-professional"))  # 1
    add(f"{ENGLISH[3]} Thank you.", tags=("theme:communication", "physician_agreed_category:not-health-professional"))
    for text in HIDDEN:  # 3 for the judge
        add(text)
    for text in ENGLISH[4:9]:  # 5 conversations
        add([text, "How old are you?", "I am 42 and otherwise well."])
    add([ENGLISH[9], "It depends.", "On what does it depend?"], ideal=None)  # 1 conversation without an ideal reply
    for text in ENGLISH[:3]:  # 3 without an ideal reply
        add(f"{text} I am worried.", ideal=None)
    add(f"{ENGLISH[3]} I am worried.", ideal="  ")  # 1 whose ideal reply is blank
    for text in ENGLISH[4:6]:  # 2 whose criteria are not about completeness
        add(f"{text} I am worried.", rubrics=[criterion("Is right", 5, ACCURATE)])
    # 1 whose only completeness criterion is a consensus criterion
    add(f"{ENGLISH[6]} I am worried.", rubrics=[criterion("Is whole", 5, ["level:cluster", "axis:completeness"])])
    # 1 whose completeness criteria are all negative: it stays, and its label will be undefined under that axis
    add(
        f"{ENGLISH[7]} I am worried.",
        rubrics=[criterion("Leaves out the warning", -6, COMPLETE), criterion("Is right", 5, ACCURATE)],
    )
    return made

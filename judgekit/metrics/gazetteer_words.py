"""What the dictionaries lack or have too much of: everyday words, and plain terms for tests, procedures, anatomy, organisms."""

from __future__ import annotations

from typing import Final

__all__ = ["CASED", "COMMON", "CONTEXT", "EXTRA", "SHORT"]

# Everyday words that are also names in the dictionaries (found by running them over prose that is not medical).
COMMON: Final = frozenset(
    [
        "more",
        "ids",
        "languages",
        "language",
        "characters",
        "combined",
        "suggestions",
        "suggestion",
        "ubl",
        "ordering",
        "buffers",
        "affects",
        "affect",
        "parents",
        "parent",
        "falls",
        "goals",
        "goal",
        "insight",
        "insights",
        "collecting",
        "mops",
        "ifex",
        "formates",
        "sits",
        "opinions",
        "opinion",
        "motivations",
        "heuristics",
        "drives",
        "drive",
        "armin",
        "generics",
        "spotting",
        "indicators",
        "siblings",
        "cutting",
        "dialects",
        "hards",
        "brothers",
        "judgement",
        "judgements",
        "judgments",
        "judgment",
        "behaviors",
        "behavior",
        "behaviours",
        "abilities",
        "ability",
        "thoughts",
        "thought",
        "associations",
        "association",
        "mods",
        "generations",
        "arima",
        "loves",
        "love",
        "ergonomics",
        "calculus",
        "alli",
        "widows",
        "cues",
        "tradename",
        "tobi",
        "agit",
        "hana",
        "disputes",
        "fears",
        "fear",
        "hopes",
        "hope",
        "negotiations",
        "negotiating",
        "inertia",
        "rela",
        "vals",
        "hops",
        "aman",
        "cera",
        "spinning",
        "lifestyle",
        "lifestyles",
        "attitudes",
        "rewards",
        "parenting",
        "bouncing",
        "vitae",
        "copies",
        "mothers",
        "mother",
        "fathers",
        "corn",
        "couples",
        "couple",
        "sensations",
        "sensation",
        "strains",
        "strain",
        "eacs",
        "lead",
        "gold",
        "silver",
        "water",
        "oxygen",
        "air",
        "sugar",
        "salt",
        "today",
        "act",
        "all",
        "sad",
        "caps",
        "cap",
        "tics",
        "sid",
        "camila",
        "panic",
        "tired",
        "emphasis",
        "prevent",
        "control",
        "focus",
        "balance",
        "relief",
        "ease",
        "clear",
        "care",
        "active",
        "react",
        "advance",
        "complete",
        "direct",
        "optimal",
        "support",
        "comfort",
        "total",
        "unique",
        "express",
        "extra",
        "max",
        "plus",
        "social",
        "family",
        "friend",
        "friends",
        "sleep",
        "stress",
        "work",
        "school",
        "habits",
        "habit",
        "culture",
        "risk",
        "personality",
        "emotions",
        "emotion",
        "motivation",
        "attention",
        "memory",
        "learning",
        "speech",
        "communication",
        "recreation",
        "exercise",
        "choice",
        "trust",
        "boil",
        "colgate",
        "biofeedback",
        "unresponsive",
        "dullness",
    ]
) | {"mantoux", "may", "can", "was", "his", "her", "the", "and"}

# Words that count only where they are written in capitals in a text that is not all capitals.
CASED: Final = frozenset(
    [
        "aids",
        "sad",
        "nad",
        "cys",
        "sti",
        "tic",
        "adhd",
        "als",
        "all",
        "ampa",
        "deta",
        "sids",
        "cats",
        "cat",
        "ham",
        "mad",
        "mds",
        "ild",
        "pad",
        "pots",
        "rad",
        "sars",
        "tips",
        "was",
        "who",
        "ace",
        "map",
        "art",
        "prep",
        "pep",
        "mac",
        "nat",
        "pcr",
        "sob",
        "cad",
        "std",
    ]
)

# What clinicians write for short, and the term that it stands for: it is that term's concepts. Beside it stand the abbreviations that
# `text.ABBREVIATIONS` writes out.
SHORT: Final[dict[str, str]] = {
    "3tc": "lamivudine", "dtg": "dolutegravir", "ftc": "emtricitabine", "taf": "tenofovir alafenamide", "tdf": "tenofovir disoproxil",
    "azt": "zidovudine", "zdv": "zidovudine", "abc": "abacavir", "efv": "efavirenz", "rpv": "rilpivirine", "ral": "raltegravir",
    "bic": "bictegravir", "cab": "cabotegravir", "drv": "darunavir", "atv": "atazanavir", "rtv": "ritonavir", "lpv": "lopinavir",
    "evg": "elvitegravir", "nvp": "nevirapine", "d4t": "stavudine", "ddi": "didanosine", "etr": "etravirine", "mvc": "maraviroc",
    "dor": "doravirine", "cobi": "cobicistat", "inh": "isoniazid", "rif": "rifampicin", "pza": "pyrazinamide", "emb": "ethambutol",
    "pcp": "pneumocystis pneumonia", "pjp": "pneumocystis pneumonia", "ks": "kaposi sarcoma", "oi": "opportunistic infections",
    "ois": "opportunistic infections", "iris": "immune reconstitution inflammatory syndrome", "plwh": "hiv infection", "hcq": "hydroxychloroquine",
    "mtx": "methotrexate", "hctz": "hydrochlorothiazide", "asa": "aspirin", "apap": "acetaminophen", "flu": "influenza", "covid": "covid 19",
    "human immunodeficiency virus infection": "hiv infection", "mi": "myocardial infarction", "afib": "atrial fibrillation",
    "hypercholesterolemia": "high cholesterol",
}  # fmt: skip

# An abbreviation of several meanings counts where one of these words stands in the same text, and only in capitals.
_HIV: Final = frozenset(
    [
        "hiv",
        "aids",
        "art",
        "antiretroviral",
        "antiretrovirals",
        "haart",
        "cd4",
        "regimen",
        "regimens",
        "nrti",
        "nnrti",
        "insti",
        "tenofovir",
        "lamivudine",
        "dolutegravir",
        "emtricitabine",
        "zidovudine",
        "abacavir",
        "efavirenz",
        "3tc",
        "dtg",
        "ftc",
        "azt",
        "tdf",
        "prep",
        "virus",
        "viral",
        "immunodeficiency",
    ]
)
CONTEXT: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(["taf", "tdf", "abc", "ral", "bic", "cab", "dor", "ddi", "etr", "rtv", "atv", "ftc"], _HIV),
    "pcp": _HIV
    | frozenset(
        ["pneumocystis", "jirovecii", "pneumonia", "prophylaxis", "trimethoprim", "smx", "dapsone", "pentamidine"]
    ),
    "ks": _HIV | frozenset(["sarcoma", "lesions", "kaposi"]),
    "iris": _HIV,
    **dict.fromkeys(["oi", "ois"], _HIV),
    **dict.fromkeys(
        ["rif", "emb", "inh", "pza"],
        frozenset(
            ["tb", "tuberculosis", "isoniazid", "rifampicin", "rifampin", "ethambutol", "pyrazinamide", "latent"]
        ),
    ),
    "asa": frozenset(["mg", "aspirin", "daily", "antiplatelet", "clopidogrel", "dose", "stroke"]),
    "mi": frozenset(
        [
            "heart",
            "cardiac",
            "chest",
            "troponin",
            "ecg",
            "ekg",
            "coronary",
            "aspirin",
            "infarction",
            "st",
            "stemi",
            "angina",
        ]
    ),
}

# kind: terms. A term with "=" names one concept by several spellings.
EXTRA: Final[dict[str, str]] = {
    "test": """viral load; hiv viral load; cd4 count=cd4 cell count=cd4+ count; cd4 t cells=cd4 cells; complete blood count=cbc; blood pressure;
        blood test; blood sugar=blood glucose; hemoglobin a1c=hba1c=a1c; liver function tests=lfts; genotype resistance testing=resistance
        testing; nucleic acid test=nat=nucleic acid tests; antibody test=antibody testing; antigen test; antigen antibody test; elisa; western
        blot; rapid plasma reagin=rpr; vdrl; urinalysis; urine culture; blood culture=blood cultures; sputum culture; acid fast bacilli=afb;
        tuberculin skin test=tst=ppd; interferon gamma release assay=igra=quantiferon; chest x ray=chest radiograph=cxr; x ray; ct scan=computed
        tomography; mri=magnetic resonance imaging; ultrasound=ultrasonography; echocardiogram=echocardiography; electrocardiogram=ecg=ekg;
        colonoscopy; endoscopy; lumbar puncture=spinal tap; biopsy=biopsies; bone marrow biopsy; renal biopsy=kidney biopsy; thoracentesis;
        bronchoscopy; pap smear=pap test; mammogram=mammography; serum creatinine; creatinine; egfr=estimated glomerular filtration rate;
        potassium; sodium; calcium; phosphate; hemoglobin; white blood cell count; platelet count; cholesterol; ldl; hdl; triglycerides; tsh;
        troponin=troponins; d dimer; crp=c reactive protein; esr=erythrocyte sedimentation rate; bnp; inr; psa=prostate specific antigen;
        ferritin; albumin; bilirubin; lactate; ct=ct scan; blood gas=arterial blood gas; stress test; spirometry; dexa scan=bone density test;
        gram stain; modified acid fast stain; csf=cerebrospinal fluid; pcr=polymerase chain reaction; hla b 5701=hla b5701; bmi=body mass index;
        heart rate; body temperature; oxygen saturation; physical exam=physical examination; screening; window period""",
    "procedure": """surgery; chemotherapy; radiation therapy=radiotherapy; hemodialysis=dialysis; transplant=transplantation; vaccination=vaccine=
        vaccines=immunization; antiretroviral therapy=art=cart=haart=combination antiretroviral therapy; prep=pre exposure prophylaxis;
        pep=post exposure prophylaxis; prophylaxis; cognitive behavioral therapy=cbt; psychotherapy; physical therapy; breastfeeding; cesarean
        section=c section=cesarean delivery; rehydration=oral rehydration; intravenous fluids=iv fluids; insulin therapy; counseling""",
    "anatomy": """knee=knees; hip=hips; shoulder=shoulders; elbow=elbows; wrist=wrists; ankle=ankles; foot=feet; hand=hands; finger=fingers; toe=toes;
        arm=arms; leg=legs; thigh; calf; neck; chest; abdomen=belly; pelvis; spine; jaw; scalp; groin; appendix; gallbladder; tonsils=tonsil;
        sinuses=sinus; gums; teeth=tooth; testicle=testicles; urethra; ureter; artery=arteries; vein=veins; rib=ribs; skull; tissue=tissues; liver; kidney=kidneys; heart; lung=lungs; brain; spinal cord; skin; stomach; intestine=intestines; colon; bladder; prostate; uterus;
        ovary=ovaries; cervix; vagina; penis; breast=breasts; thyroid; pancreas; spleen; bone=bones; bone marrow; joint=joints; muscle=muscles;
        tendon=tendons; blood; blood vessels; lymph nodes=lymph node; eye=eyes; ear=ears; nose; throat; mouth; tongue; esophagus; rectum; anus;
        nerve=nerves; aorta; mediastinum; hilum; immune system; central nervous system=cns; white matter; glomeruli=glomerulus; macrophages;
        t cells; white blood cells; red blood cells; platelets; placenta; fetus""",
    "organism": """hiv=human immunodeficiency virus; hiv 1; hiv 2; mycobacterium tuberculosis=m tuberculosis; mycobacterium avium complex=mac; cryptococcus
        neoformans=cryptococcus; cryptosporidium parvum; cryptosporidium; toxoplasma gondii=toxoplasma; pneumocystis jirovecii=pneumocystis carinii;
        candida; treponema pallidum; bartonella henselae; bartonella quintana; bartonella; jc virus=john cunningham virus; epstein barr
        virus=ebv; cytomegalovirus=cmv; hepatitis b virus=hbv; hepatitis c virus=hcv; herpes simplex virus=hsv; varicella zoster virus=vzv;
        human papillomavirus=hpv; human herpesvirus 8=hhv 8; streptococcus pneumoniae; staphylococcus aureus; escherichia coli=e coli;
        salmonella; shigella; isospora belli=cystoisospora belli; microsporidia; giardia; histoplasma capsulatum; aspergillus; chlamydia
        trachomatis; neisseria gonorrhoeae; influenza virus; bacteria; virus=viruses; fungi=fungus; parasite=parasites""",
    "finding": """fracture=fractures=broken bone; swelling; sore throat; runny nose; stomach ache=stomachache; bloating; itching=itch;
        lump; dehydration; sweating; chills; tenderness; redness; attention deficit hyperactivity disorder""",
    "state": """pregnancy=pregnant; trimester=first trimester; allergic reaction; side effects=adverse effects=side effect; drug interactions=drug
        interaction; overdose; withdrawal; contraindication=contraindicated=contraindications; immunocompromised=immunosuppressed=
        immunosuppression; menopause; puberty; breast feeding; viral suppression; undetectable; transmission; mother to child transmission=
        vertical transmission; medical emergency; inflammation; risk factors=risk factor; symptoms=symptom; diagnosis; prognosis; treatment""",
    "drug": """ssri=ssris=selective serotonin reuptake inhibitor; nsaid=nsaids=nonsteroidal anti inflammatory drugs; nrti=nrtis=nucleoside reverse
        transcriptase inhibitor; nnrti=nnrtis=non nucleoside reverse transcriptase inhibitor; insti=instis=integrase strand transfer
        inhibitor; statins=statin; steroids=corticosteroids=steroid=corticosteroid; antifungals=antifungal; antivirals=antiviral;
        antiretrovirals=antiretroviral drugs=antiretrovirals; tmp smx=trimethoprim sulfamethoxazole=co trimoxazole=bactrim; birth control=
        contraception=contraceptives; condoms=condom; caffeine; nicotine; alcohol; beta blockers=beta blocker""",
}

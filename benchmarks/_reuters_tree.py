"""The topics of Reuters-21578 as paths: groups of its list of categories, and topics that contain others."""

from __future__ import annotations

GROUPS = {
    "corporate": "acq earn",
    "currency": (
        "austdlr can cruzado dfl dkr dlr dmk hk lit nkr nzdlr peseta rand ringgit rupiah saudriyal sfr skr "
        "stg yen"
    ),
    "economic": (
        "bop cpi cpu gnp housing income instal-debt inventories ipi jobs lei money-supply reserves retail "
        "trade wpi"
    ),
    "energy": "crude nat-gas pet-chem",
    "energy/crude": "fuel gas heat jet naphtha propane",
    "general": "interest money-fx ship",
    "commodity/grain": "barley corn oat rice rye sorghum wheat",
    "commodity/livestock": "carcass f-cattle hog l-cattle pork-belly",
    "commodity/veg-oil": (
        "castor-oil coconut-oil corn-oil cotton-oil groundnut-oil lin-oil palm-oil rape-oil soy-oil sun-oil"
    ),
    "commodity/oilseed": (
        "castorseed coconut copra-cake cottonseed groundnut linseed palmkernel rapeseed soybean sunseed"
    ),
    "commodity/meal-feed": "citruspulp cornglutenfeed fishmeal lin-meal rape-meal soy-meal sun-meal",
}
ABOVE = {topic: group for group, topics in GROUPS.items() for topic in topics.split()}


def path(topic: str) -> str:
    """The path of a topic, such as commodity/grain/wheat."""
    return f"{ABOVE.get(topic, 'commodity')}/{topic}"

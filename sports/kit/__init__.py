"""The sport kit: what every sport must pass before anybody plays on it (design section 5).

It stands on the contract alone. `check_sport` runs a sport given as an object; `check_folder` runs a
sport's folder in worker processes of its own, under two hash seeds.
"""

from sports.kit.checks import CHECKS, check_sport
from sports.kit.errors import KitFault, NotGolden
from sports.kit.folder import SportFolder, find_folder
from sports.kit.golden import Golden, GoldenStep, Mark
from sports.kit.notation import parse_match, read_match
from sports.kit.report import Check, Report
from sports.kit.workers import check_folder

__all__ = [
    "CHECKS",
    "Check",
    "Golden",
    "GoldenStep",
    "KitFault",
    "Mark",
    "NotGolden",
    "Report",
    "SportFolder",
    "check_folder",
    "check_sport",
    "find_folder",
    "parse_match",
    "read_match",
]

"""Budgets and profiles as the repository keeps them, and how a measurement compares with them."""
import dataclasses
import datetime
import os

from .callgrind import NONE, Cost

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
TABLE = os.path.join(FOLDER, "budgets.txt")
KEPT_FUNCTIONS = 80
SHOWN_FUNCTIONS = 12
HEAD = """# Budgets of a request, and of the memory for a stored object. `./dev budget` compares; its --help explains.
# name           budget  date        reason
"""


@dataclasses.dataclass
class Budget:
    value: int
    date: str
    reason: str


def read_budgets():
    budgets = {}
    if os.path.exists(TABLE):
        with open(TABLE) as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    name, value, date, reason = line.rstrip("\n").split(None, 3)
                    budgets[name] = Budget(int(value), date, reason)
    return budgets


def write_budgets(budgets):
    with open(TABLE, "w") as file:
        file.write(HEAD)
        for name, budget in budgets.items():
            file.write(f"{name:<12}{budget.value:>11}  {budget.date}  {budget.reason}\n")


def profile_path(name):
    return os.path.join(FOLDER, f"{name}.txt")


def read_profile(name):
    costs = {}
    if os.path.exists(profile_path(name)):
        with open(profile_path(name)) as file:
            for line in file:
                if not line.startswith("#"):
                    own, inclusive, calls, function = line.rstrip("\n").split(None, 3)
                    costs[function] = Cost(float(own), float(inclusive), float(calls))
    return costs


def by_own_cost(costs):
    return sorted(costs.items(), key=lambda item: (-item[1].own, item[0]))


def write_profile(name, costs):
    with open(profile_path(name), "w") as file:
        file.write(f"# {name}, per request: own instructions, with all that is called, calls, function\n")
        for function, cost in by_own_cost(costs)[:KEPT_FUNCTIONS]:
            file.write(f"{cost.own:9.1f} {cost.inclusive:9.1f} {cost.calls:7.2f} {function}\n")


def record(name, value, costs, reason, today=None):
    budgets = read_budgets()
    budgets[name] = Budget(round(value), str(today or datetime.date.today()), reason)
    write_budgets(budgets)
    if costs:
        write_profile(name, costs)


def changes(recorded, measured):
    """(change, function, recorded cost, cost now), most grown first. A function that neither profile keeps is left out."""
    kept = dict(by_own_cost(measured)[:KEPT_FUNCTIONS])
    found = []
    for function in recorded.keys() | kept.keys():
        before, now = recorded.get(function, NONE), measured.get(function, NONE)
        found.append((now.own - before.own, function, before, now))
    return sorted(found, key=lambda change: (-change[0], change[1]))


def comparison(recorded, measured):
    """Lines that name the functions that grew most, and those that shrank, as inlining moves costs."""
    sorted_changes = changes(recorded, measured)
    grown = [change for change in sorted_changes if change[0] >= 1][:SHOWN_FUNCTIONS]
    shrunk = [change for change in reversed(sorted_changes) if change[0] <= -1][:SHOWN_FUNCTIONS // 2]
    lines = []
    for title, some in (("grew", grown), ("shrank", shrunk)):
        lines.append(f"  {title + ':':<10}{'own instructions':>20}{'with callees':>20}{'calls':>16}   function")
        for change, function, before, now in some:
            lines.append(f"  {change:>+10,.0f}{f'{before.own:,.0f} -> {now.own:,.0f}':>20}"
                         f"{f'{before.inclusive:,.0f} -> {now.inclusive:,.0f}':>20}"
                         f"{f'{before.calls:.2f} -> {now.calls:.2f}':>16}   {function}")
    return lines

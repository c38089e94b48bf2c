#!/usr/bin/env python3
"""Runs the tests of all recipes, or of those that are named, and says which were skipped.

    tests/recipes/run.py build/release/hearsay                # or: ./dev recipes
    tests/recipes/run.py build/release/hearsay --table pypi   # what each step cost, as Markdown
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
SHOWN = ["without hearsay", "first node", "second node", "another signature", "origin down",
         "origin at 429", "origin at 503"]


def recipes():
    others = {"run.py", "check.py", "authority.py"}
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and name not in others)


def run(program, recipe, folder, way):
    path = os.path.join(folder, recipe + ".json")
    done = subprocess.run([sys.executable, os.path.join(FOLDER, recipe + ".py"), program, "--json", path,
                           *(["--way", way] if way else [])], capture_output=True, text=True)
    rows = []
    if done.returncode == 0:
        with open(path) as file:
            rows = json.load(file)
    return done.returncode, (done.stdout + done.stderr).strip(), rows


def bytes_text(count):
    return f"{count} B" if count < 10_000 else f"{count / 1000:,.0f} kB"


def table(rows):
    """One line for each recipe and way: requests to the origin, bytes of its bodies, seconds of the client."""
    lines = ["| recipe | way | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 2) + "|"]
    for key in dict.fromkeys((row["recipe"], row["way"]) for row in rows):
        cells = {row["step"]: row for row in rows if (row["recipe"], row["way"]) == key}
        texts = [f"{row['requests']}, {bytes_text(row['origin_bytes'])}, {row['seconds']:.1f} s{'' if row['served'] else ', fails'}"
                 if (row := cells.get(step)) else "-" for step in SHOWN]
        lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program hearsay")
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help=f"of {', '.join(recipes())}; default: all")
    parser.add_argument("--table", action="store_true", help="one recipe at a time, and what each step cost")
    parser.add_argument("--way", help="only this way to the node: a class of harness/access.py in small letters")
    arguments = parser.parse_args()
    if unknown := set(arguments.recipes) - set(recipes()):
        parser.error(f"no recipe is called {', '.join(sorted(unknown))}")
    failed, skipped, rows = [], [], []
    with tempfile.TemporaryDirectory(prefix="hearsay-recipes-") as folder, \
            concurrent.futures.ThreadPoolExecutor(1 if arguments.table else os.cpu_count()) as pool:
        program = os.path.abspath(arguments.program)
        runs = [(recipe, pool.submit(run, program, recipe, folder, arguments.way)) for recipe in arguments.recipes or recipes()]
        for recipe, result in runs:
            code, text, costs = result.result()
            print(text, file=sys.stderr)
            rows += costs
            if code:
                (skipped if code == SKIPPED else failed).append(recipe)
    if arguments.table:
        print(table(rows))
    print(f"{len(runs) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped", file=sys.stderr)
    if failed:
        sys.exit("failed: " + ", ".join(failed))
    if skipped and len(skipped) == len(runs):
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()

"""Writes the injections of AgentDojo as JSON Lines, from its wheel, without installing it.

    pip download --no-deps agentdojo==0.1.35
    python3 crates/bench/corpora/agentdojo.py agentdojo-0.1.35-py3-none-any.whl > agentdojo.jsonl
    cargo xtask bench scan --corpus agentdojo.jsonl

Each line has `text`, an attack that contains a goal, and `kind`, the name of the attack.
"""

import ast
import json
import sys
import zipfile

# Placeholder for a part of a text that is known only when AgentDojo runs.
UNKNOWN = "Emma Johnson"


def text_of(node, names):
    """Returns the text of an expression, with a placeholder for parts that are not constant."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id, UNKNOWN)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, names) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left, names) + text_of(node.right, names)
    return UNKNOWN


def assigned(tree):
    """Returns the names of a file that are assigned a text, with the text."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = text_of(node.value, names)
    return names


def goals(wheel):
    for path in sorted(wheel.namelist()):
        if not path.endswith("/injection_tasks.py") or "/v1/" not in path:
            continue
        tree = ast.parse(wheel.read(path))
        names = assigned(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "GOAL":
                yield text_of(node.value, names)


def attacks(wheel):
    """Yields name and text of each attack that has a fixed text around the goal."""
    for path in sorted(wheel.namelist()):
        if "/attacks/" not in path or not path.endswith("_attacks.py"):
            continue
        for node in ast.walk(ast.parse(wheel.read(path))):
            if not isinstance(node, ast.ClassDef):
                continue
            said = ast.get_docstring(node, clean=False)
            texts = [
                part.value
                for part in ast.walk(node)
                if isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and "{goal}" in part.value
                and part.value != said
            ]
            if texts:
                yield node.name, texts[0]


def main():
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        wanted = list(goals(wheel))
        for name, around in attacks(wheel):
            for goal in wanted:
                text = around.replace("{goal}", goal)
                text = text.replace("{user}", UNKNOWN).replace("{model}", "AI assistant")
                print(json.dumps({"kind": name, "text": text}))


main()

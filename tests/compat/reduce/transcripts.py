"""Transcripts from a seed: rows as the earlier server's recorder writes them, and rows as it never would."""

import json
import random
from collections.abc import Iterator
from typing import Any

from reduce import words

LOCI = ["", "alpha", "home-box.me@host"]
KEYS = ("objective", "done", "in_progress", "blockers", "next_steps", "key_paths", "open_questions")


def transcripts(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """`count` transcripts. Each depends on the seed and its own number alone."""
    for number in range(count):
        yield Generator(random.Random(f"{seed}/{number}")).transcript()


class Generator:
    """One transcript."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._one = chance.choice
        # A transcript has few files and commands, so that what it says of them meets again.
        self._paths = chance.sample(words.PATHS, chance.randint(1, 4))
        self._commands = chance.sample(words.COMMANDS, chance.randint(1, 6))

    def transcript(self) -> dict[str, Any]:
        """Rows, and after how many of them there is a roll."""
        length = self._one([0, 1, 1, 2, 3, 4, 6, 9, 14])
        rows = [self._row() for _ in range(length)]
        ts = 1_700_000_000
        for number, row in enumerate(rows, 1):
            ts += self._one([0, 0, 1, 1, 7, 60, -2])
            row |= {"id": number, "ts": ts}
        rolls, done = [], 0
        while done < length:
            done = min(length, done + self._one([1, 1, 2, 3, 5, 14]))
            rolls.append({"rows": done, "force": self._odds(0.1)})
        rolls += [{"rows": length, "force": self._odds(0.4)} for _ in range(self._one([0, 1, 2]))]
        return {
            "locus": self._one(LOCI),
            "prev": self._state() if self._odds(0.4) else None,
            "most": self._one([1, 2, 3, 400, 400]),
            "rows": rows,
            "rolls": rolls or [{"rows": 0, "force": True}],
        }

    def _odds(self, of: float) -> bool:
        return self._chance.random() < of

    def _some(self, pool: list[str], most: int) -> list[str]:
        return [self._one(pool) for _ in range(self._chance.randint(0, most))]

    def _noise(self, most: int = 60) -> str:
        return "".join(self._chance.choices(words.ALPHABET, k=self._chance.randint(0, most)))

    # Prompts.

    def _prompt(self) -> str:
        kind = self._chance.random()
        if kind < 0.4:
            text = " ".join(self._one(words.SENTENCES) for _ in range(self._chance.randint(1, 2)))
            return self._one(words.PREFIXES) + text if self._odds(0.25) else text
        if kind < 0.5:
            return self._one(words.ACKS)
        if kind < 0.6:
            return self._one(words.COMPOUND_ACKS)
        if kind < 0.65:
            return f"{self._one(words.COMPOUND_ACKS)}. {self._one(words.SENTENCES)}"
        if kind < 0.72:
            return self._one(words.NOT_ACKS)
        if kind < 0.9:
            return self._one(words.HARNESS).format(id=self._one(words.IDS), other=self._one(words.IDS))
        return self._one(words.SHORT) if self._odds(0.5) else self._noise(120)

    # Responses.

    def _text(self) -> str:
        pools = [words.TEXT, words.TEXT, words.NEXT, words.QUESTIONS, words.SENTENCES]
        lines = [self._one(self._one(pools)) for _ in range(self._chance.randint(0, 6))]
        if self._odds(0.15):
            lines.append(self._noise(200))
        return self._one(["\n", "\n", "\n\n", "\r\n"]).join(lines)

    def _command(self) -> str:
        if self._odds(0.12):
            return self._one(words.HIDDEN_CALLS)
        if self._odds(0.05):
            return self._noise(150)
        return self._one(self._commands)

    def _call(self) -> tuple[str, str, str]:
        """A tool, its argument as the list of calls has it, and its whole command."""
        kind = self._chance.random()
        if kind < 0.45:
            command = self._command()
            return "Bash", f"command={command[:110]}", command
        if kind < 0.65:
            name = self._one(["Edit", "Edit", "Write", "MultiEdit", "NotebookEdit", "fs_write_file"])
            key = "notebook_path" if name == "NotebookEdit" else "file_path"
            return name, f"{key}={self._one(self._paths)[:110]}", ""
        if kind < 0.78:
            name = self._one(["Read", "fs_read_file", "fs_read_json"])
            return name, f"{self._one(['file_path', 'path'])}={self._one(self._paths)[:110]}", ""
        if kind < 0.88:
            return self._one(["Agent", "Task"]), self._one(words.AGENT_TASKS)[:122], ""
        name, args = self._one(words.OTHERS)
        return name, args, ""

    def _result(self, name: str) -> str:
        if name in ("Agent", "Task") and self._odds(0.8):
            return self._one(words.AGENT_RESULTS).replace("{id}", self._one(words.IDS))
        pools = [words.GOOD, words.GOOD, words.BAD, words.IN_SENTENCES]
        if name == "Bash":
            pools += [words.COUNTS_GOOD, words.COUNTS_BAD, words.COUNTS_ODD]
        result = self._one(self._one(pools))
        if self._odds(0.2):
            result = f"{self._one(words.GOOD)}\n{result}"
        if self._odds(0.15):
            result += f"\n{self._one(self._one(pools))}"
        if self._odds(0.06):
            cut = "\n…[1234 chars cut]…\n"
            result = f"{result}{cut}tail of it\n[errors] {self._one(words.BAD).splitlines()[-1]} | other"
        if self._odds(0.04):
            result += f"\n{self._noise(300)}"
        return result

    def _row(self) -> dict[str, Any]:
        prompt = self._prompt()
        if self._odds(0.06):
            odd = ["", "\n[tools] ", "[tools] ", "\n[results]\n", "; ", "Edit(", ")", "\n---\n"]
            response = "".join(self._one(odd) + self._noise(30) for _ in range(8))
            return {"turn": "", "prompt": prompt, "response": response, "pointers": self._odd_pointers()}
        calls = [self._call() for _ in range(self._one([0, 0, 1, 2, 3, 5]))]
        results = [self._result(name) for name, _, _ in calls]
        if self._odds(0.25):
            results = results[: self._chance.randint(0, len(results))]
        if self._odds(0.05):
            results.append(self._one(words.BAD))
        response = self._text()
        if calls:
            response += "\n[tools] " + "; ".join(f"{name}({args})" for name, args, _ in calls)
        if results:
            response += "\n[results]\n" + "\n---\n".join(results)
        commands = [command[:200] for name, _, command in calls if name == "Bash"]
        files = sorted(
            {args.partition("=")[2] for _, args, _ in calls if args.startswith(("file_path", "path", "notebook"))}
        )
        pointers: Any = {"source": "claude-code-transcript", "files": files, "commands": commands}
        pointers |= {"errors": [], "tool_calls": len(calls)}
        if prompt.lstrip().startswith(("<", "[SYSTEM")) and self._odds(0.6):
            pointers["harness"] = {"kind": "task-notification", "summary": "…"}
        if self._odds(0.15):
            pointers = self._odd_pointers()
        return {"turn": f"u{self._chance.randint(0, 9)}", "prompt": prompt, "response": response, "pointers": pointers}

    def _odd_pointers(self) -> Any:
        return self._one(
            [
                None,
                {},
                {"harness": True},
                {"harness": ""},
                {"files": self._some(words.PATHS, 20), "commands": self._some(words.COMMANDS, 2)},
                {"files": None, "commands": None, "harness": {}},
                json.dumps({"files": self._some(words.PATHS, 3), "harness": 0}),
                "no JSON",
                [],
            ]
        )

    # The state before the first row.

    def _state(self) -> dict[str, Any]:
        pools: dict[str, list[str]] = {
            "done": [f"edited {path}" for path in words.PATHS]
            + ["commit: fix login race", "passed: pytest -q", "board: todo_done"],
            "in_progress": [f"editing {path}" for path in words.PATHS]
            + [f"subagent {agent}: audit logs" for agent in words.IDS]
            + ["subagent: nobody", "running: Bash(ls)", "thinking"],
            "blockers": words.PROSE_BLOCKERS + words.TOOL_BLOCKERS,
            "next_steps": ["run the whole suite", "fix login race", "tag the release", "check /srv/app/login.py"]
            + [line.partition(":")[2] for line in words.NEXT],
            "key_paths": words.PATHS + ["https://example.com/a", "app.service", "/srv/APP/LOGIN.py"],
            "open_questions": words.QUESTIONS,
        }
        state: dict[str, Any] = {key: self._some(pool, 8) for key, pool in pools.items()}
        if self._odds(0.2):
            key = self._one(sorted(pools))
            state[key] = [f"item {number} {self._noise(20)}" for number in range(40)]
        if self._odds(0.2):
            state[self._one(sorted(pools))] += ["  padded  ", "", " ", "w" * 299 + " x", "é" * 400]
        state["objective"] = self._one(["", "Fix the login.", "two\n lines  of it", "o" * 4100, *words.SENTENCES])
        state["init_prompt"] = self._one(["", "You are a fresh seat.", " x " * 2000])
        return state

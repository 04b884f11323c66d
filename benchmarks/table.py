"""From a stored result to tables in markdown, and from there into the pages that show them.

    python benchmarks/table.py benchmarks/results/cpu.json      # print
    python benchmarks/table.py --update README.md               # fill in the marked places of pages or notebooks
    python benchmarks/table.py --package                        # the small copies that chapters read from the package

A marked place names the result and, if not all of them are wanted, the settings:

    <!-- benchmark cpu A C -->
    <!-- /benchmark -->
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.contestants import BASELINE

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGE = RESULTS.parents[1] / "src" / "d2lrnn" / "data" / "recorded"
MARKED = re.compile(r"(<!-- benchmark ([\w.-]+)((?: [A-Z])*) -->\n).*?(<!-- /benchmark -->)", re.DOTALL)
HEAD = "| | tokens/s | least to most | times {baseline} | of the limit | threads |\n|---|---:|---:|---:|---:|---:|"


def rates(row: dict[str, Any], setting: dict[str, Any]) -> list[float]:
    """Tokens per second, round by round."""
    tokens_per_step = setting["batch_size"] * setting["num_steps"]
    return [took["steps"] * tokens_per_step / took["seconds"] for took in row["rounds"]]


def best_rows(result: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """One row a contestant, that of its better number of threads by the median; with ``rates`` put in."""
    setting, best = result["settings"][name], {}
    for row in result["results"]:
        if row["setting"] != name:
            continue
        row = row | {"rates": [] if "absent" in row else rates(row, setting)}
        held = best.get(row["contestant"])
        if held is None or ("absent" not in row and _median(row) > _median(held)):
            best[row["contestant"]] = row
    return list(best.values())


def _median(row: dict[str, Any]) -> float:
    return statistics.median(row["rates"]) if row["rates"] else 0.0


def ratio(row: dict[str, Any], baseline: dict[str, Any]) -> float:
    """Median of the ratios of rounds: what the machine did in a round, it did to both."""
    return statistics.median(a / b for a, b in zip(row["rates"], baseline["rates"]))


def _round(value: float) -> str:
    """Three figures: 1,234,567 as 1.23 M."""
    for size, unit in ((1e6, " M"), (1e3, " k"), (1, "")):
        if value >= size:
            digits = 2 if value < 10 * size else 1 if value < 100 * size else 0
            return f"{value / size:.{digits}f}{unit}"
    return f"{value:.2f}"


def setting_table(result: dict[str, Any], name: str) -> str:
    """The table of one setting."""
    setting, rows = result["settings"][name], best_rows(result, name)
    by_name = {row["contestant"]: row for row in rows}
    baseline = by_name.get(BASELINE[name])
    if baseline is None or not baseline["rates"]:
        baseline = next((row for row in rows if row["rates"] and row["role"] != "limit"), None)
    limits = [row for row in rows if row["role"] == "limit" and row["rates"]]
    limit = max(limits, key=_median) if limits else None
    lines = [f"**{name}: {setting['title']}** ({setting['sizes']})", ""]
    lines.append(HEAD.format(baseline=baseline["title"] if baseline else "the first"))
    for row in rows:
        if row["role"] == "limit" and row is not limit:
            continue  # the slower library is no limit
        if "absent" in row:
            lines.append(f"| {row['title']} | *{row['absent']}* | | | | |")
            continue
        title = f"**{row['title']}**" if row["role"] == "ours" else row["title"]
        title = f"*{title}*" if row is limit else title
        cells = [
            title,
            _round(_median(row)),
            f"{_round(min(row['rates']))} to {_round(max(row['rates']))}",
            f"{ratio(row, baseline):.2f}" if baseline else "",
            f"{ratio(row, limit):.0%}" if limit else "",
            str(row["threads"]),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def footer(result: dict[str, Any]) -> str:
    """What it was measured on."""
    facts = result["machine"]
    where = [facts["gpu"], f"CUDA {facts['cuda']}"] if result["device"] == "cuda" else [facts["processor"]]
    if result["device"] == "cpu":
        where.append(f"{facts['cores']} core{'s' * (facts['cores'] != 1)}")
    if result.get("precision") == "tf32":
        where.append("products in TF32")
    where += [f"Python {facts['python']}", f"torch {facts['torch']}", f"numpy {facts['numpy']}"]
    rounds = sorted({len(row["rounds"]) for row in result["results"] if "rounds" in row})
    counted = f"{rounds[0]}" if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}" if rounds else "no"
    counted += " round" if rounds == [1] else " rounds"
    text = f"{', '.join(where)}. {result['date']}, medians of {counted} of {result['options']['seconds']} s."
    return f"{text} {result['note']}" if result.get("note") else text


def markdown(result: dict[str, Any], settings: list[str] | None = None) -> str:
    """All tables, or those of some settings, and what they were measured on."""
    chosen = settings or list(result["settings"])
    return "\n\n".join([*(setting_table(result, name) for name in chosen), footer(result)]) + "\n"


def fill_in(page: str, results: Path = RESULTS) -> str:
    """The page's text with its marked places written anew."""

    def written(found: re.Match[str]) -> str:
        result = json.loads((results / f"{found[2]}.json").read_text(encoding="utf-8"))
        return f"{found[1]}\n{markdown(result, found[3].split() or None)}\n{found[4]}"

    return MARKED.sub(written, page)


def for_the_package(results: Path = RESULTS) -> dict[str, Any]:
    """What chapters need of the stored results: shares of the limit, and curves of perplexity against time."""
    cpu = json.loads((results / "cpu.json").read_text(encoding="utf-8"))
    shares: dict[str, dict[str, float]] = {}
    for name in ("A", "B", "C"):
        rows = [row for row in best_rows(cpu, name) if row["rates"]]
        limit = max((row for row in rows if row["role"] == "limit"), key=_median)
        for row in rows:
            if row["role"] != "limit":
                shares.setdefault(row["title"], {})[name] = round(ratio(row, limit), 4)
    timed = json.loads((results / "time_to_perplexity.json").read_text(encoding="utf-8"))
    timed = [run for run in timed if (run["corpus"], run["part"]) == ("time-machine", "test")]
    (counts,) = (run["counts"] for run in timed if "counts" in run)
    fields = ("seconds", "train_perplexity", "heldout_perplexity")
    return {
        "measured_on": footer(cpu),
        "shares_of_the_limit": shares,
        "tables": {n: found["heldout_perplexity"] for n, found in counts.items()},
        "curves": {
            run["recipe"]: [{name: point[name] for name in fields} for point in run["curve"]]
            for run in timed
            if "curve" in run
        },
    }


def updated(page: Path, results: Path = RESULTS) -> str:
    """What a page of markdown, or a notebook, should contain."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return fill_in(text, results)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = fill_in("".join(cell["source"]), results).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--update"]:
        for page in map(Path, arguments[1:]):
            page.write_text(updated(page), encoding="utf-8")
    elif arguments == ["--package"]:
        text = json.dumps(for_the_package(), indent=1, ensure_ascii=False) + "\n"
        (PACKAGE / "benchmarks.json").write_text(text, encoding="utf-8")
    else:
        for name in arguments:
            print(markdown(json.loads(Path(name).read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Compares one training step of lase with the same step in PyTorch Geometric; writes CSV and SVG.

    apps/bench/peers/compare.py --lase build/release/lase --python /opt/peer/bin/python --out docs/step

PyTorch Geometric runs twice: with the default allocator, and with glibc configured to keep freed memory,
as lase does, since returning a gigabyte to the system and allocating it again costs more than the
arithmetic. The programs take turns, so that both see the same load.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess

KEEP = {"MALLOC_MMAP_THRESHOLD_": str(10**12), "MALLOC_TRIM_THRESHOLD_": str(10**12)}
COLORS = {"lase": "#1a7f5a", "PyTorch Geometric, memory kept": "#8a94a6", "PyTorch Geometric": "#c3c9d4"}


def last_json(command: list[str], environment: dict[str, str]) -> dict:
    run = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.strip().splitlines()[-1])


def measure(options: argparse.Namespace) -> list[dict]:
    script = str(pathlib.Path(__file__).with_name("pyg_step.py"))
    rows = []
    for threads in options.threads:
        size = ["--threads", str(threads), "--steps", str(options.steps)]
        lase = [options.lase, "bench", "step", "--json", *size]
        peer = [options.python, "-B", script, *size]
        found: dict[str, list[dict]] = {}
        for _ in range(options.rounds):
            for name, command, environment in (
                ("lase", lase, {}),
                ("PyTorch Geometric, memory kept", peer, KEEP),
                ("PyTorch Geometric", peer, {}),
            ):
                found.setdefault(name, []).append(last_json(command, environment))
        for name, runs in found.items():
            rows.append(
                {
                    "program": name,
                    "threads": threads,
                    "seconds_per_step": statistics.median(r["seconds_per_step"] for r in runs),
                    "links_first_layer": runs[0]["links_first_layer"],
                    "peak_gib": round(max(r["peak_rss_bytes"] for r in runs) / 2**30, 2),
                }
            )
            print(rows[-1], flush=True)
    return rows


def picture(rows: list[dict]) -> str:
    """Horizontal bars grouped by threads, each labeled with its time and memory."""
    longest = max(row["seconds_per_step"] for row in rows)
    left, width, height = 250, 360, 22
    y, parts = 46, []
    for threads in dict.fromkeys(row["threads"] for row in rows):
        group = [row for row in rows if row["threads"] == threads]
        fastest = min(row["seconds_per_step"] for row in group)
        label = f"{threads} thread" + ("s" if threads > 1 else "")
        parts.append(f'<text x="8" y="{y + 4}" font-weight="600">{label}</text>')
        y += 12
        for row in group:
            seconds = row["seconds_per_step"]
            bar = max(2, width * seconds / longest)
            times = "" if seconds == fastest else f", {seconds / fastest:.1f} ×"
            parts.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{row["program"]}</text>')
            parts.append(
                f'<rect x="{left}" y="{y + 2}" width="{bar:.1f}" height="{height - 5}" rx="2" '
                f'fill="{COLORS[row["program"]]}"/>'
            )
            parts.append(
                f'<text x="{left + bar + 6:.1f}" y="{y + 15}">{seconds:.2f} s{times}, '
                f'{row["peak_gib"]:.1f} GiB</text>'
            )
            y += height
        y += 16
    title = f"One training step, {rows[0]['links_first_layer']:,} links in the first layer (lower is better)"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="780" height="{y}" viewBox="0 0 780 {y}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#1f2430">'
        f'<rect width="780" height="{y}" fill="#ffffff"/>'
        f'<text x="8" y="22" font-size="15" font-weight="600">{title}</text>' + "".join(parts) + "</svg>\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lase", default="build/release/lase", help="lase executable")
    parser.add_argument("--python", default="python3", help="Python with torch and torch_geometric")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[2, 1],
                        help="numbers of threads, comma-separated")
    parser.add_argument("--steps", type=int, default=5, help="timed steps per run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program; the median is reported")
    parser.add_argument("--out", required=True, help="path of the CSV and SVG files, without extension")
    options = parser.parse_args()
    rows = measure(options)
    with open(options.out + ".csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    pathlib.Path(options.out + ".svg").write_text(picture(rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Validation curves of the sampling strategies (figures 4b and 4c of the paper), as csv and SVG.

    bench/figures/sampling.py --lase build/release/lase --graph email.graph --out docs/sampling

Writes OUT.csv (a row an epoch), OUT_scores.csv (test scores of the best epochs) and OUT.svg.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile

SAMPLES = (1, 3, 10)
STRATEGIES = ("uniform", "gate", "min_var", "snapshot")
RENEWALS = (1, 5, 20, 100)
STRATEGY_COLORS = {"exact": "#222222", "uniform": "#8a94a6", "gate": "#d08a2e", "min_var": "#3b6fb6", "snapshot": "#1a7f5a"}
RENEWAL_COLORS = {1: "#0b3d2e", 5: "#1a7f5a", 20: "#d08a2e", 100: "#b6403b"}


def configurations() -> list[dict]:
    """Every setting once; a setting may appear in more than one panel."""
    found = [{"strategy": "exact", "samples": 0, "renew": 10}]
    for samples in SAMPLES:
        found += [{"strategy": s, "samples": samples, "renew": 10} for s in STRATEGIES]
        found += [{"strategy": s, "samples": samples, "renew": k} for s in STRATEGIES[2:] for k in RENEWALS]
    return found


def run(options: argparse.Namespace, setting: dict, seed: int) -> dict:
    draws = ["--fanout", "all"]
    if setting["strategy"] != "exact":
        draws = ["--fanout", str(setting["samples"]), "--strategy", setting["strategy"]]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        command = [options.lase, "train", options.graph, "--out", f"{folder}/model", "--log", str(log), "--quiet"]
        command += ["--json", "--threads", "1", "--patience", "0", "--epochs", str(options.epochs)]
        command += ["--seed", str(seed), "--renew", str(setting["renew"]), *draws]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout.strip().splitlines()[-1])
        curve = [json.loads(line)["val_micro_f1"] for line in log.read_text().splitlines()]
    return {"curve": curve, "test": result["micro_f1"], "val": result["val_micro_f1"], "seconds": result["train_seconds"]}


def spread(values: list[float]) -> tuple[float, float]:
    """Mean and standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
    return statistics.mean(values), error


def measure(options: argparse.Namespace) -> list[dict]:
    settings = configurations()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {
            (i, seed): pool.submit(run, options, setting, seed)
            for i, setting in enumerate(settings)
            for seed in range(1, options.seeds + 1)
        }
        for i, setting in enumerate(settings):
            found = [runs[i, seed].result() for seed in range(1, options.seeds + 1)]
            setting["curve"] = [spread(list(values)) for values in zip(*(one["curve"] for one in found))]
            for key in ("val", "test", "seconds"):
                setting[key] = spread([one[key] for one in found])
            print({k: v for k, v in setting.items() if k != "curve"}, flush=True)
    return settings


def panel(settings: list[dict], title: str, x: int, y: int, label, color) -> str:
    """One set of axes with a band of one standard error around each mean."""
    width, height, low, high = 240, 170, 0.56, 0.82
    epochs = len(settings[0]["curve"])

    def at(epoch: int, value: float) -> str:
        inside = min(max(value, low), high)
        return f"{x + width * epoch / epochs:.1f},{y + height * (high - inside) / (high - low):.1f}"

    parts = [f'<text x="{x}" y="{y - 8}" font-weight="600">{title}</text>']
    for value in (0.6, 0.65, 0.7, 0.75, 0.8):
        line = at(0, value).split(",")[1]
        parts.append(f'<line x1="{x}" x2="{x + width}" y1="{line}" y2="{line}" stroke="#e4e7ec"/>')
        parts.append(f'<text x="{x - 6}" y="{float(line) + 4}" text-anchor="end" fill="#667">{value}</text>')
    for i, setting in enumerate(settings):
        curve = list(enumerate(setting["curve"], 1))
        band = [at(e, m + s) for e, (m, s) in curve] + [at(e, m - s) for e, (m, s) in reversed(curve)]
        line = " ".join(at(e, m) for e, (m, _) in curve)
        parts.append(f'<polygon points="{" ".join(band)}" fill="{color(setting)}" opacity="0.22"/>')
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color(setting)}" stroke-width="1.3"/>')
        key = y + height - 14 * (len(settings) - i) + 6
        parts.append(f'<line x1="{x + width - 88}" x2="{x + width - 72}" y1="{key - 4}" y2="{key - 4}" stroke="{color(setting)}" stroke-width="2"/>')
        parts.append(f'<text x="{x + width - 66}" y="{key}">{label(setting)}</text>')
    parts.append(f'<text x="{x}" y="{y + height + 16}" fill="#667">0</text>')
    parts.append(f'<text x="{x + width}" y="{y + height + 16}" text-anchor="end" fill="#667">{epochs} epochs</text>')
    return "\n".join(parts)


def picture(settings: list[dict]) -> str:
    def pick(samples: int, strategy: str, renew: int) -> dict:
        return next(s for s in settings if (s["samples"], s["strategy"], s["renew"]) == (samples, strategy, renew))

    parts = []
    for column, samples in enumerate(SAMPLES):
        x = 50 + 290 * column
        shown = [settings[0]] + [pick(samples, s, 10) for s in STRATEGIES]
        parts.append(panel(shown, f"{samples} drawn: strategies", x, 70, lambda s: s["strategy"], lambda s: STRATEGY_COLORS[s["strategy"]]))
        for row, strategy in enumerate(STRATEGIES[2:], 1):
            shown = [pick(samples, strategy, k) for k in RENEWALS]
            parts.append(panel(shown, f"{samples} drawn: {strategy}, renewed …", x, 70 + 235 * row, lambda s: f"every {s['renew']}", lambda s: RENEWAL_COLORS[s["renew"]]))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="760" font-family="sans-serif" font-size="11">\n'
        '<rect width="900" height="760" fill="white"/>\n'
        '<text x="20" y="26" font-size="15" font-weight="600">Email: validation micro-F1 with drawn neighbours, mean and standard error over seeds</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def measured(path: str) -> list[dict]:
    """What an earlier run wrote."""
    curves: dict[tuple, list] = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = (row["strategy"], int(row["samples"]), int(row["renew"]))
            curves.setdefault(key, []).append((float(row["val_micro_f1"]), float(row["standard_error"])))
    return [{"strategy": s, "samples": n, "renew": k, "curve": curve} for (s, n, k), curve in curves.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lase", default="build/release/lase")
    parser.add_argument("--graph", default="email.graph")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--redraw", action="store_true", help="only the picture, from OUT.csv")
    options = parser.parse_args()
    if options.redraw:
        pathlib.Path(options.out + ".svg").write_text(picture(measured(options.out + ".csv")))
        return
    settings = measure(options)
    with open(options.out + ".csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["strategy", "samples", "renew", "epoch", "val_micro_f1", "standard_error"])
        for setting in settings:
            for epoch, (mean, error) in enumerate(setting["curve"], 1):
                writer.writerow([setting["strategy"], setting["samples"], setting["renew"], epoch, f"{mean:.5f}", f"{error:.5f}"])
    with open(options.out + "_scores.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["strategy", "samples", "renew", "seeds", "val_micro_f1", "val_error", "test_micro_f1", "test_error", "train_seconds"])
        for s in settings:
            numbers = [f"{x:.4f}" for key in ("val", "test") for x in s[key]]
            writer.writerow([s["strategy"], s["samples"], s["renew"], options.seeds, *numbers, f"{s['seconds'][0]:.2f}"])
    pathlib.Path(options.out + ".svg").write_text(picture(settings))


if __name__ == "__main__":
    main()

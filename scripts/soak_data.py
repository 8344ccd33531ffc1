"""Commands, files and values for scripts/soak."""
import gzip
import json
import re
import struct

SMALL_RUN = "--threads 1 --quiet --widths 4,4 --patience 0 --batch-size 32"
SHORT = f"train g.graph --epochs 3 {SMALL_RUN}"
MAIL = "import contacts contacts.csv --nodes people.csv --label department --split split"
NODES = "--nodes nodes.csv --label label --split split --node-columns none"
LINKS = f"{NODES} --features features.npy --feature-names features.txt --out new.graph"

# Make the files that the other commands read, together with CHECKPOINT and write_inputs().
PLANTED = "generate planted --nodes 120 --links 400 --node-dim 4 --link-dim 3"
INPUTS = [
    f"{PLANTED} --out g.graph",
    f"{PLANTED} --layout sparse --seed 2 --out sparse.graph",
    "generate mail --people 40 --contacts 300 --out .",
    f"{MAIL} --slices 4 --out mail.graph",
    "export g.graph --out .",
    f"{SHORT} --out m.model",
]

# Training runs that take a second or more.
RUNS = [
    f"train {run} {SMALL_RUN} --out k.model --log k.log --resume"
    for run in (
        "g.graph --epochs 60 --checkpoint-every 1",
        "g.graph --epochs 60 --strategy snapshot --refresh lazy --fanout 2 --checkpoint-every 3",
        "g.graph --epochs 40 --strategy min_var --fanout 3 --refresh-every 7 --checkpoint-every 2",
        "sparse.graph --epochs 40 --model wl --schedule cosine --checkpoint-every 2",
        "mail.graph --epochs 40 --features line --features-width 4 --features-epochs 1",
    )
]
# Is killed after its first checkpoint.
CHECKPOINT = (
    f"train g.graph --epochs 40 {SMALL_RUN} --checkpoint m.checkpoint --checkpoint-every 1 "
    "--out r.model"
)

# Commands with one output {}, and its name; a name with a slash is a folder.
OUTPUTS = [
    (f"import links links.csv {NODES} --out {{}}", "o.graph"),
    ("generate planted --nodes 200 --links 900 --out {}", "o.graph"),
    ("generate mail --people 40 --contacts 2000 --out {}", "folder/"),
    ("export g.graph --out {}", "folder/"),
    ("export sparse.graph --out {}", "folder/"),
    ("line g.graph --width 32 --epochs 2 --out {}", "o.graph"),
    ("deepwalk g.graph --width 32 --walks 1 --out {}", "o.npy"),
    ("kernel g.graph g.graph g.graph --kind neighbor --out {}", "o.csv"),
    ("predict m.model g.graph --top-k 4 --out {}", "o.csv"),
    ("embed m.model g.graph --out {}", "o.npy"),
    ("evaluate m.model g.graph --confusion {}", "o.csv"),
    ("explain m.model g.graph --node 5 --svg {}", "o.svg"),
    ("tune g.graph --trials 1 --threads 1 --epochs 2 --widths 4 --out {}", "o.toml"),
    (f"{SHORT} --out {{}}", "o.model"),
    (f"{SHORT} --out new.model --report {{}}", "o.html"),
    (f"{SHORT} --out new.model --log {{}}", "o.log"),
    (f"{SHORT} --out new.model --checkpoint-every 1 --checkpoint {{}}", "o.checkpoint"),
]
# Outputs with times in them, a log that may end early, and a file that a whole run removes.
VARYING = {"o.html", "o.log", "o.checkpoint"}

# Files to damage, and commands that read them.
READERS = {
    "g.graph": [
        "info g.graph",
        "check g.graph",
        "export g.graph --out new",
        "kernel g.graph",
        "line g.graph --width 4 --epochs 1 --out new.npy",
        f"{SHORT} --out new.model",
        "evaluate m.model g.graph",
        "predict m.model g.graph --out new.csv",
        f"import links links.csv --like g.graph {LINKS}",
    ],
    "sparse.graph": [
        "info sparse.graph",
        "check sparse.graph",
        "export sparse.graph --out new",
        "deepwalk sparse.graph --width 4 --walks 1 --online --out new.npy",
    ],
    "mail.graph": ["info mail.graph", f"{MAIL} --like mail.graph --out new.graph"],
    "m.model": [
        "check m.model",
        "evaluate m.model g.graph",
        "embed m.model g.graph --out new.npy",
        "explain m.model g.graph --node 5",
        "predict m.model g.graph --top-k 3 --out new.csv",
    ],
    "m.checkpoint": ["check m.checkpoint", f"{CHECKPOINT} --resume"],
    "run.toml": ["line g.graph --config run.toml --out new.npy"],
    "train.toml": ["train g.graph --config train.toml --out new.model"],
    "contacts.csv": [f"{MAIL} --out new.graph", f"{MAIL} --slicing quantile --out new.graph"],
    "people.csv": [f"{MAIL} --out new.graph", f"{MAIL} --text department --out new.graph"],
    "links.csv": [
        f"import links links.csv {LINKS}",
        f"import typed links.csv {LINKS}",
        "import sets links.csv --members target --out new.graph",
    ],
    "links.csv.gz": [f"import links links.csv.gz {LINKS}"],
    "nodes.csv": [f"import links links.csv {LINKS}"],
    "features.npy": [f"import links links.csv {LINKS}"],
    "features.txt": [f"import links links.csv {LINKS}"],
    "a-G.json": ["import authors a --out new.graph"],
    "a-label-map.json": ["import authors a --out new.graph"],
    "a-node-id-map.json": ["import authors a --out new.graph"],
}

# Arguments without a flag, and flags that keep a command small unless they are drawn.
ARGUMENTS = {"graph": "g.graph", "model": "m.model", "file": "links.csv", "graphs": "g.graph"}
SMALL = {
    "generate planted": "--nodes 40 --links 90",
    "generate mail": "--people 20 --contacts 50",
    "train": "--epochs 2 --widths 4,4",
    "tune": "--trials 1 --epochs 2 --widths 4,4",
    "line": "--epochs 1 --width 4",
    "deepwalk": "--walks 1 --length 3 --width 4",
    "bench step": "--nodes 40 --links 90 --node-dim 3 --link-dim 2 --steps 1 --hidden 4",
    "bench sampling": "--repeats 2 --rows 9 --warm-up 1 --stale 1",
}
TOO_LARGE = {"generate reddit", "generate dblp"}
VALUES = (
    ["nan", "inf", "-inf", "-1", "0", "1", "2", "0.5", "1e400", "18446744073709551615"]
    + ["9223372036854775808", "-9223372036854775809", "", " ", "a" * 300, "\x1b[31mred"]
    + ["é\u202e", "\udcff", "0,0", "1,,2", ",", "=", "--out", "all", "none", "auto"]
    + ["65/15/20", "1/0/0", "learning_rate=nan", ".", "none/x", "/dev/null", "/dev/full"]
    + ["g.graph", "m.model", "m.checkpoint", "run.toml", "links.csv", "links.csv.gz", "nodes.csv"]
    + ["features.npy", "a-G.json"]
)


def write_inputs(folder):
    """Files that lase does not write itself: gzip, TOML, and the format of the paper's authors."""
    links = (folder / "links.csv").read_bytes()
    (folder / "links.csv.gz").write_bytes(gzip.compress(links, mtime=0))
    (folder / "run.toml").write_text(
        '# LINE\nwidth = 4\nepochs = 1\nnegatives = 3\norder = "both"\nweighted = true\n'
    )
    (folder / "train.toml").write_text(
        'epochs = 2\nwidths = [4, 4]\nmodel = "sage"\nnormalize = false\nfanout = "3,3"\n'
    )
    states = ("train", "train", "val", "test")
    graph = {
        "nodes": [{"id": i, "state": state} for i, state in enumerate(states)],
        "links": [{"source": i, "target": (i + 1) % 4, "id": i} for i in range(4)],
    }
    (folder / "a-G.json").write_text(json.dumps(graph))
    (folder / "a-label-map.json").write_text(json.dumps({str(i): i % 2 for i in range(4)}))
    (folder / "a-node-id-map.json").write_text(json.dumps({str(i): 3 - i for i in range(4)}))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }".ljust(117) + "\n"
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(16)
    for name in ("node", "link"):
        (folder / f"a-{name}-feats.npy").write_bytes(npy)


def parse_options(reference):
    """{command: [(option, type)]} from the output of `lase options`."""
    commands = {}
    for line in reference.splitlines():
        if line.startswith("## lase "):
            options = [("--json", ""), ("--threads", "INT"), ("--config", "TEXT")]
            commands[line.removeprefix("## lase ")] = options
        elif row := re.match(r"\| `(.+?)` \| (?:`(.*?)`)? \|", line):
            options.append((row[1], row[2] or ""))
    return {command: commands[command] for command in commands if command not in TOO_LARGE}


def draw_command(command, options, rng):
    """The words of a command with random flags and values, and its arguments without a flag."""
    arguments = []
    for name, _ in options:
        if not name.startswith("--"):
            usual = ARGUMENTS.get(name, "x")
            arguments.append(usual if rng.random() < 0.9 else rng.choice(VALUES))
    words = command.split() + arguments
    flags = [option for option in options if option[0].startswith("--")]
    drawn = dict(rng.sample(flags, min(len(flags), rng.choice([1, 1, 2, 4]))))
    for name, kind in drawn.items():
        choices = re.search(r"\{(.*)\}", kind)
        values = choices[1].split(",") if choices and rng.random() < 0.7 else VALUES
        value = rng.choice(values)
        words += [name] if not kind else rng.choice([[f"{name}={value}"], [name, value]])
    usual = SMALL.get(command, "").split() + ["--out", "new"] * (("--out", "TEXT") in options)
    for name, value in zip(usual[::2], usual[1::2]):
        words += [name, value] if name not in drawn else []
    return words, arguments


def damaged(data, rng):
    """Flips, inserts, deletes, cuts off, repeats or swaps bytes, or changes a number."""
    if rng.random() < 0.7:  # so that damage to arrays is not caught by their checksums
        data = data.replace(b"checksums", b"unchecked", 1)
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        short = slice(a, min(b, a + rng.choice([1, 4, 8, 64])))
        kind = rng.choice(["flip", "insert", "delete", "cut", "repeat", "swap", "digits", "word"])
        if kind == "flip" and a < len(data):
            data[a] ^= 1 << rng.randrange(8)
        elif kind == "insert":
            inserts = [b'"', b",", b"\n", b"\0", b"-", b"\xff\xfe", b"[" * 500, rng.randbytes(9)]
            data[a:a] = rng.choice(inserts)
        elif kind == "delete":
            del data[short]
        elif kind == "cut":
            del data[a:]
        elif kind == "repeat":
            data[b:b] = data[short]
        elif kind == "swap":
            data[a : a + 40], data[b : b + 40] = data[b : b + 40], data[a : a + 40]
        elif kind == "digits" and (numbers := list(re.finditer(rb"\d+", data))):
            begin, end = rng.choice(numbers).span()
            other = rng.choice([b"9" * 20, b"1" + b"0" * 19, b"%020d" % rng.getrandbits(60), b"-1"])
            data[begin:end] = other[begin - end :] if rng.random() < 0.8 else other
        elif kind == "word":
            word = rng.choice([-1, 0, 1, 1 << 31, (1 << 31) - 1, 0x7F800000, 0x7FC00000])
            aligned = a // 4 * 4
            data[aligned : aligned + 4] = struct.pack("<I", word & 0xFFFFFFFF)
    return bytes(data)

"""Labels, scores, embeddings and an explanation from two CSV files.

    build/python/venv/bin/python examples/python/scores.py
"""

from __future__ import annotations

import tempfile

import lase


def main() -> float:
    with tempfile.TemporaryDirectory() as folder:
        lase.generate("mail", folder, people=200, contacts=15_000)
        graph = lase.read_contacts(
            f"{folder}/contacts.csv",
            nodes=f"{folder}/people.csv",
            label="department",
            split="split",
            separate_directions=True,
        )
        model = lase.NodeClassifier(model="lase", widths=(128, 128), epochs=60, seed=1)
        model.fit(graph)
        score = model.score(graph)
        print(f"accuracy on test nodes: {score:.3f}")
        print("predicted:", *model.predict(graph, nodes=["p0001", "p0002"]))
        print("probabilities:", model.predict_proba(graph, nodes=["p0001"]).round(3)[0])
        print("embeddings:", model.transform(graph).shape)
        print(model.explain(graph, node="p0001", neighbors=3, attributes=2))
        model.save(f"{folder}/mail.model")
        again = lase.load(f"{folder}/mail.model")
        assert again.score(graph) == score
        return score


if __name__ == "__main__":
    main()

from __future__ import annotations

import pathlib
import signal

import pytest

import lase

# A shell ignores Ctrl-C in jobs that it starts in the background, and Python inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def mail_folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("mail")
    lase.generate("mail", folder, people=200, contacts=15_000)
    return folder


@pytest.fixture(scope="session")
def mail(mail_folder: pathlib.Path) -> lase.Graph:
    return lase.read_contacts(
        mail_folder / "contacts.csv",
        nodes=mail_folder / "people.csv",
        label="department",
        split="split",
        separate_directions=True,
    )


@pytest.fixture(scope="session")
def model(mail: lase.Graph) -> lase.NodeClassifier:
    return lase.NodeClassifier(epochs=20).fit(mail)

"""The ledger on a fresh database."""

import pytest

from gateway.ledger import Ledger
from runtime.database import Database


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)

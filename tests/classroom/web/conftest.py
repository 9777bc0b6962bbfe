"""Fixtures of the web's tests, found by their names."""

from tests.support.accounts_app import (  # noqa: F401
    app,
    client,
    database,
    log,
    made,
    no_time_passes,
    quick_passwords,
    settings,
)
from tests.support.hostile_school import ada, ben, eng, school, unchanged  # noqa: F401

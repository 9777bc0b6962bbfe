"""Pages for everybody."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from tests.support.hostile_school import School


def test_the_login_page_has_no_script_or_style_inside(client: TestClient) -> None:
    page = client.get("/login").text
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert scripts == [""]  # from a file of ours, and nothing inside
    assert re.search(r'<script type="module" src="/static/[^"]*login.js"', page)
    assert "<style" not in page
    assert " style=" not in page
    assert 'role="alert"' in page
    for field in ("name", "password"):
        assert f'<label for="{field}">' in page
        assert f'id="{field}"' in page


def test_the_page_of_the_api_has_every_operation_and_loads_nothing_from_elsewhere(
    school: School,
) -> None:
    client = school.client()  # nobody needs to sign in to read it
    page = client.get("/docs")
    assert page.status_code == 200
    described = client.get("/openapi.json").json()["paths"]
    ids = [one["operationId"] for methods in described.values() for one in methods.values()]
    assert len(ids) == len(set(ids)) > 35
    for id in ids:
        assert re.fullmatch("[a-z_]{2,20}", id)  # as a client's method is named
        assert f'id="{id}"' in page.text
    assert "saw_request" in page.text
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page.text)
    assert "<script" not in page.text

"""Pages for everybody."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient


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

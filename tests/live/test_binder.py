"""Launch addresses: what BinderHub reads out of them, and how a process knows that it runs on Binder."""

from urllib.parse import parse_qs, urlsplit

import pytest

from gradlab.live import binder


def test_a_page_comes_back_out_of_a_launch_address() -> None:
    page = "lab/tree/my%20notebooks/a.ipynb#gl=1&lab=b&menu=one+two%2Bthree"
    address = binder.at("https://mybinder.org/v2/gh/me/it/HEAD", page)
    assert urlsplit(address).fragment == ""
    assert parse_qs(urlsplit(address).query) == {"urlpath": [page]}


@pytest.mark.parametrize(
    ("host", "request_", "launch"),
    [
        ("https://mybinder.org/", "v2/gh/me/it/1f2e", "https://mybinder.org/v2/gh/me/it/1f2e"),
        ("https://mybinder.org/", "", ""),
        ("", "v2/gh/me/it/1f2e", ""),
    ],
)
def test_binder_says_where_it_is(host: str, request_: str, launch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDER_LAUNCH_HOST", host)
    monkeypatch.setenv("BINDER_PERSISTENT_REQUEST", request_)
    assert binder.here() == launch

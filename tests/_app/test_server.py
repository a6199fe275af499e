"""The address that JupyterLab prints: with a token, and with the state of a lab behind it."""

from urllib.parse import urlsplit

from jupyter_server.auth.identity import IdentityProvider

from gradlab._app.server import Server


def test_the_printed_addresses_open_a_page_at_a_state() -> None:
    server = Server()
    server.identity_provider = IdentityProvider(parent=server)
    server.default_url = "/lab/tree/a.ipynb#gl=1&lab=b"
    printed = [urlsplit(line.strip()) for line in server.display_url.splitlines()]
    assert len(printed) == 2
    for address in printed:
        assert (address.path, address.query[:6], address.fragment) == (
            "/lab/tree/a.ipynb",
            "token=",
            "gl=1&lab=b",
        )

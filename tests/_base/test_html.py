"""Tables of words: escaped, headed, and scrolled by keys."""

from html.parser import HTMLParser

from gradlab._base.html import html_table


class Seen(HTMLParser):
    """The elements of a page with their attributes, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_words_stay_words() -> None:
    seen = Seen(html_table('a "<b>"', ["x", "<i>"], [("<u>", 1), ("v", None)]))
    assert seen.words == ['a "<b>"', "x", "<i>", "<u>", "1", "v", "None"]
    assert {tag for tag, _ in seen.tags} == {
        "div",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }


def test_headers_say_what_they_head() -> None:
    seen = Seen(html_table("c", ["x", "y"], [(1, 2), (3, 4)]))
    assert [looks["scope"] for tag, looks in seen.tags if tag == "th"] == [
        "col",
        "col",
        "row",
        "row",
    ]


def test_keys_can_scroll_what_is_too_wide() -> None:
    tag, looks = Seen(html_table('"c"', ["x"], [])).tags[0]
    assert tag == "div" and looks["tabindex"] == "0" and looks["aria-label"] == '"c"'
    assert looks["style"] == "overflow-x: auto"


def test_a_caption_may_be_said_and_not_shown() -> None:
    seen = Seen(html_table("c", ["x"], [(1,)], shows_caption=False))
    assert "caption" not in [tag for tag, _ in seen.tags] and seen.tags[0][1]["aria-label"] == "c"

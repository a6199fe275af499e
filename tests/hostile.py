"""Names that a page, a formula, a terminal or a shell would act on, if they were taken for more
than names.
"""

FORMULA = r"a$\frac{a}{$"
SCRIPT = "<script>document.title='owned'</script>"
IMAGE = """x" onerror="document.title='owned'"><img src=x onerror="document.title='owned'">"""
ELSEWHERE = (
    "<img src='http://elsewhere.example/a.png'><link rel=stylesheet "
    "href='http://elsewhere.example/a.css'>"
)
NAMES = {
    "formula": FORMULA,
    "broken formula": r"$\undefined$ _{^",
    "one dollar": "cost in $",
    "escaped dollar": r"a\$b$c$\\",
    "backslashes": r"\\server\share\n",
    "script": SCRIPT,
    "end of a script": "</script><script>document.title='owned'</script>",
    "end of noscript": "</noscript></style></textarea><svg onload=\"document.title='owned'\">",
    "image": IMAGE,
    "elsewhere": ELSEWHERE,
    "address": "javascript:document.title='owned'",
    "entities": "a&lt;b&#60;script&#62;&amp;",
    "quotes": """a'b"c`d""",
    "template": "$title ${title} {{title}} {0} %s",
    "lines": "a\nb\r\nc\td",
    "terminal": "a\x1b[2Jb\x07\x00c",
    "unicode": "重み/слой/√β",
    "right to left": "\u202eכובד/משקל\u202c",
    "half a character": "a\ud800b",
    "empty": "",
    "long": "layer/" * 1_667,
}

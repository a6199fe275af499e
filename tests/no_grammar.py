"""jsonschema, which nbval and Jupyter import, builds a grammar for a second if this package is
there.

It is for addresses in other scripts, of which no notebook has any. pytest imports this module
before nbval, by `-p` in pyproject.toml.
"""

import sys

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # so that an import of it fails

"""How Sphinx makes the site. `python -m notebooks.site OUT` writes the pages that it reads, and calls it."""

import gradlab
from gradlab._base.addresses import on_site

project = "gradlab"
version = release = gradlab.__version__
html_title = "gradlab"
html_baseurl = on_site()
language = "en"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.githubpages",  # whose pages leave out folders that begin with _ otherwise
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "notebooks.site.hooks",
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # pages show what is saved; a test runs the notebooks
html_math_renderer = "mathml"

default_role = "py:obj"  # names in single backticks are links where they are public
napoleon_numpy_docstring = False
# Lists: several arguments or fields may share an item, and those of a class get no address of their own.
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
viewcode_line_numbers = True

templates_path = ["templates"]
html_theme = "furo"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("labs.js", {"defer": "defer"}), ("asked.js", {"defer": "defer"})]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1565c0", "color-brand-content": "#1565c0"},
    "dark_css_variables": {"color-brand-primary": "#64b5f6", "color-brand-content": "#64b5f6"},
}

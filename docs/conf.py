"""How the documentation is built: ``make docs``."""

import dataclasses
from importlib.metadata import version as installed

from supple.core.parameters import describe

project = "Supple"
author = "The Supple developers"
copyright = "The Supple developers, MIT licence"
version = release = installed("supple")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "figures", "tables"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
# Docstrings give shapes and units, which say more than the types do.
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
maximum_signature_line_length = 88
napoleon_numpy_docstring = False
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = f"Supple {version}"
html_static_path = ["_static"]
html_css_files = ["supple.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#a8472a", "color-brand-content": "#a8472a"},
    "dark_css_variables": {"color-brand-primary": "#e9926f", "color-brand-content": "#e9926f"},
}


def tell_parameters(app, what, name, obj, options, lines):
    """Adds to a class what its parameters say of themselves."""
    if what == "class" and dataclasses.is_dataclass(obj):
        for each in (known for known in describe(obj) if known.text):
            lines += ["", f"* ``{each.name}``{f' [{each.unit}]' if each.unit else ''}: {each.text}"]


def setup(app):
    app.connect("autodoc-process-docstring", tell_parameters)

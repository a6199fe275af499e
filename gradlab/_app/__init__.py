"""The `gradlab` command: notebooks in JupyterLab, dashboards, reports."""

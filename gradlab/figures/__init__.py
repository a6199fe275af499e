"""Traces in, matplotlib figures out: one file per lab.

A view holds `figure`, whose moving artists are made with `animated=True`, and `draw(trace)`, which sets their data and
paints nothing. No pyplot, no files, no maths of its own.
"""

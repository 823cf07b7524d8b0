"""Campaigns by name: plans, what names stand for, running them, and reading the runs they leave.

What the command line, `instar.run`, the pytest plugin, the studies and the workbench have in common.
"""

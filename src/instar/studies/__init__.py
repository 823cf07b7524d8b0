"""The studies of the papers, for whatever systems are given: campaigns, tables and figures."""

"""What everything is made of: scenes, systems, relations, verdicts, and how a campaign runs."""

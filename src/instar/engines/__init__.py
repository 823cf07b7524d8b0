"""Where a campaign runs."""

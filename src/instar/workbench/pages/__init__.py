"""The pages of the workbench, a module each with `router(site)`."""

"""Detection services of the large clouds: asked over HTTPS, or played back from recorded answers."""

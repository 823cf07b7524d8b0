"""Text services of the large clouds: asked over HTTPS, or played back from a folder of recorded answers."""

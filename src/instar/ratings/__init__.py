"""Human judgement: a page that people rate cases on, and what their ratings say."""

from instar.ratings.counts import Rated, read_ratings, summarise_ratings
from instar.ratings.page import Item, choose_cases, render_page

__all__ = ["Item", "Rated", "choose_cases", "read_ratings", "render_page", "summarise_ratings"]

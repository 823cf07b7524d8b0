"""Human judgement: a page that people rate cases on, and what their ratings say."""

from instar.ratings.choosing import choose
from instar.ratings.counting import Rated, read_answers, summarise
from instar.ratings.page import Item, render_page

__all__ = ["Item", "Rated", "choose", "read_answers", "render_page", "summarise"]

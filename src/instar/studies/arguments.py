"""What each study can be asked on the command line; this imports nothing heavy, for --help is to be quick."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from instar.campaigns.overrides import add_settings

DRIVERS = "epoch-street,vgg16-street,resnet101-street,vgg16-blind"
EMBEDDED = "street-classifier"
# Follow-ups per picture: Table 5 of the paper (10, 10, 2, 10, 10, 1) and Table 3 (20, 20, 2, 100, 20, 1);
# samples (2, 2, 2, 2, 2, 1) are for locators that take a second or more, and for those that are paid for.
FOLLOW_UPS = {
    "samples": {"step": 50, "perspectives": 2, "watermarks": 2},
    "few": {"step": 10, "perspectives": 10, "watermarks": 10},
    "full": {"step": 5, "perspectives": 100, "watermarks": 20},
}


def _detection(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", required=True, metavar="A,B,C", help="the detectors, by name or module:attr")
    add("--scenes", required=True, metavar="PATH", help="a folder, a COCO json, ..., or street:N")
    add("--queries", type=int, default=1600, metavar="N", help="questions of each search (1600)")
    add("--nulls", type=int, default=6, metavar="N", help="fresh null changes of each scene (6)")
    add("--pool", metavar="DIR", help="cut-outs to use instead of those made from the scenes")
    add("--referees", metavar="NAMES", help="who says what is there where the data does not, or none")
    add("--yes", action="store_true", help="send pictures to services that are paid for without asking first")
    add("--price-per-query", type=float, default=0.0, metavar="X", help="for the account only (0)")
    add_settings(parser, "OWNER.KEY=VALUE", "an option of a system, of each as system.key, or insertion.key")
    _add_plots(parser)


def _text(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", required=True, metavar="A,B,C", help="the locators, by name or module:attr")
    add("--scenes", required=True, metavar="PATH", help="an ICDAR folder, any of pictures, page:N, ...")
    add("--truth", metavar="DIR", help="the folder of gt_NAME.txt, where it is not below the scenes")
    counts = "follow-ups of a picture: 11, 43 (Table 5; the default) or 163 (Table 3)"
    add("--counts", choices=list(FOLLOW_UPS), default="few", help=counts)
    add("--matching", choices=("one-to-one", "paper"), default="one-to-one", help="how boxes are paired")
    sweep = "also every brightness from -200 to 200 in steps of 5, on so many scenes (all)"
    add("--sweep", type=int, nargs="?", const=0, metavar="SCENES", help=sweep)
    add_settings(parser, "SYSTEM.KEY=VALUE", "an option of one system, or of each as system.key=value")
    add("--retrain", metavar="A,B", help="also write the follow-ups of these relations as training data")
    add("--yes", action="store_true", help="send pictures to services that are paid for without asking first")
    add("--as-is", action="store_true", help="tell what the runs in --out have so far, and ask nothing")
    _add_plots(parser)


def _driving(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", default=DRIVERS, metavar="A,B,C", help=f"drivers, by name or module:attr ({DRIVERS})")
    add("--scenes", required=True, metavar="PATH", help="scenes with label maps, such as drive:60:7")
    add("--cases", type=int, default=1, metavar="N", help="cases per scene and rule (1)")
    add(
        "--rule", action="append", metavar="TEXT", help="also a rule, or a file of rules, of yours; repeat it"
    )
    add("--palette", metavar="NAME", help="what label maps mean: cityscapes, camvid, a2d2, ..., or a file")
    add("--ontology", metavar="FILE", help="words of your own for rules, added to instar's")
    add("--engines", metavar="FILE", help="what makes the pictures of rules: a name or a file of your own")
    add("--affine", action="store_true", help="also DeepTest's affine changes, light and blur, in a table")
    _add_plots(parser)


def _interpretation(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", default=EMBEDDED, metavar="NAME", help=f"the classifier ({EMBEDDED}, drawn and embedded)")
    add_settings(parser, "system.KEY=VALUE", "an option of the classifier, such as system.device=cuda")
    add("--interpreters", default="all", metavar="A,B", help="by name, or all of them (all)")
    add("--scenes", default="street:8", metavar="PATH", help="annotated pictures (street:8)")
    add("--twin", metavar="FILE", help="a twin of the classifier that `instar backdoor plant` made")
    add("--inserts", type=int, default=2, metavar="N", help="objects pasted and removed per question (2)")
    add("--samples", default="", metavar="rise=N,lime=N", help="fewer masks or samples than usual")
    add("--pool", metavar="DIR", help="cut-outs to use instead of those made from the scenes")
    add("--objects", metavar="SYSTEM", help="the helper that finds objects where the data knows none")
    add("--no-gallery", action="store_true", help="draw no pictures of good and bad explanations")


def _add_plots(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plots", action="store_true", help="also draw figures; needs the extra 'plots'")


def _with_shared(study: str, own: Callable[[argparse.ArgumentParser], None]) -> Callable[..., None]:
    def arguments(parser: argparse.ArgumentParser) -> None:
        own(parser)
        add, out = parser.add_argument, f"studies/{study}"
        add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
        add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
        add("--out", default=out, metavar="DIR", help=f"where runs, tables and pictures go ({out})")

    return arguments


_OWN = {"detection": _detection, "text": _text, "driving": _driving, "interpretation": _interpretation}
ARGUMENTS = {study: _with_shared(study, own) for study, own in _OWN.items()}
"""By study: what adds its arguments to a parser."""

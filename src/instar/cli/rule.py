"""`instar rule`: read a driving rule back as a relation, or say which word is not understood."""

from instar.campaigns.catalogue import import_command

arguments, perform = import_command("rule")

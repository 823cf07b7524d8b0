"""`instar completion`: a script by which a shell completes commands, options and names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from instar.core.outcome import Outcome

NAMED = {"--system": "system", "--objects": "system", "--maps": "system", "--relation": "relation"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(SHELLS), help="whose script to print")
    parser.epilog = (
        'bash: eval "$(instar completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc, after compinit\n'
        "fish: instar completion fish > ~/.config/fish/completions/instar.fish"
    )


def perform(args: argparse.Namespace) -> Outcome:
    script = SHELLS[args.shell](_options(), _names())
    return Outcome(script, {"shell": args.shell, "script": script})


def _options() -> dict[str, list[str]]:
    """The options of every command."""
    from instar.cli.program import COMMANDS, EVERYWHERE

    found = {}
    for name in COMMANDS:
        parser = argparse.ArgumentParser(add_help=True)
        import_module(f"instar.cli.{name}").arguments(parser)
        options = {flag for action in parser._actions for flag in action.option_strings}
        found[name] = sorted(flag for flag in options | set(EVERYWHERE) if flag.startswith("--"))
    return found


def _names() -> dict[str, list[str]]:
    """What may follow an option: the names of systems and relations that are built in."""
    from instar.campaigns.catalogue import catalogue_entries

    names = {what: [entry.name for entry in catalogue_entries(what)] for what in set(NAMED.values())}
    return {flag: sorted(names[what]) for flag, what in NAMED.items()}


def _bash(options: Mapping[str, Sequence[str]], names: Mapping[str, Sequence[str]]) -> str:
    by_flag = "\n".join(f'    {flag}) words="{" ".join(ours)}" ;;' for flag, ours in names.items())
    by_command = "\n".join(f'      {name}) words="{" ".join(ours)}" ;;' for name, ours in options.items())
    return f"""_instar() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  case "$before" in
{by_flag}
  esac
  if [ -z "$words" ] && [ "$COMP_CWORD" -eq 1 ]; then
    words="{" ".join(options)} --help --version"
  elif [ -z "$words" ] && [ "${{current#-}}" != "$current" ]; then
    case "${{COMP_WORDS[1]}}" in
{by_command}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _instar instar
"""


def _fish(options: Mapping[str, Sequence[str]], names: Mapping[str, Sequence[str]]) -> str:
    from instar.cli.program import COMMANDS

    lines = []
    for name, purpose in COMMANDS.items():
        told = purpose.replace("\\", "\\\\").replace("'", "\\'")
        lines.append(f"complete -c instar -f -n __fish_use_subcommand -a {name} -d '{told}'")
        for flag in options[name]:
            values = f" -x -a '{' '.join(names[flag])}'" if flag in names else ""
            lines.append(f"complete -c instar -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}{values}")
    return "\n".join(lines) + "\n"


SHELLS: Mapping[str, Callable[..., str]] = {
    "bash": _bash,
    "zsh": lambda *lists: f"autoload -U +X bashcompinit && bashcompinit\n{_bash(*lists)}",
    "fish": _fish,
}

import collections

import pytest
import typer

from pomona.cli import options
from pomona.cli.app import OLD_SPELLINGS, build
from pomona.cli.options import named_columns, split_measures


def test_only_named_columns_count():
    assert named_columns(None, "query", None) == {"qid": "query"}


def test_measures_may_share_an_option():
    assert split_measures(["ap, rbp(p=0.5,relevant=2)", "p@3"]) == ["ap", "rbp(p=0.5,relevant=2)", "p@3"]
    assert split_measures(None) == []
    for nothing in ([""], [" , "], ["", ""]):
        with pytest.raises(typer.BadParameter, match="names no measure"):
            split_measures(nothing)


def given():
    """(verb, name, what it is) of every option of every verb."""
    for verb, command in typer.main.get_command(build()).commands.items():
        for one in command.params:
            if one.param_type_name == "option":
                yield from ((verb, name, one) for name in (*one.opts, *one.secondary_opts))


SENTENCES = {"--out": 4, "-o": 4, "--measure": 2, "-m": 2, "--format": 2, "-f": 2, "--unjudged": 2}
"""What may be said of an option in several sentences: a file or a directory, one measure or several;
how documents without a label count while training, or the label that they get."""


def test_an_option_has_one_meaning_whichever_verb_has_it():
    """What several verbs call by one name is one thing, said in one sentence, which stands in `options`."""
    declared = set()
    for one in vars(options).values():
        found = [one, *getattr(one, "__metadata__", ())]
        declared |= {info.help for info in found if isinstance(info, typer.models.OptionInfo)}
    by_name = collections.defaultdict(dict)
    for verb, name, one in given():
        by_name[name][verb] = one
    for name, verbs in by_name.items():
        helps = {one.help for one in verbs.values()}
        assert len(helps) <= SENTENCES.get(name, 1), (name, sorted(verbs))
        if len(verbs) > 1 and name not in ("--format", "-f"):
            assert helps <= declared, (name, sorted(verbs), "belongs into cli/options.py")
        assert len({one.metavar for one in verbs.values()}) == 1, name
        assert len({one.opts[0] for one in verbs.values()}) == 1, name


def test_a_thing_has_one_name():
    sentences = collections.defaultdict(set)
    for _, _, one in given():
        sentences[one.help].add(tuple(one.opts))
    assert {text: names for text, names in sentences.items() if len(names) > 1} == {}


def test_old_spellings_are_understood_and_not_shown():
    verbs = typer.main.get_command(build()).commands
    for verb, renamed in OLD_SPELLINGS.items():
        known = {name for one, name, _ in given() if one == verb}
        assert known >= set(renamed.values())
        assert not known & renamed.keys()
    context = verbs["compare"].make_context("compare", ["toy", "--measures", "ap", "--measures=rr"])
    assert context.params["measure"] == ["ap", "rr"]

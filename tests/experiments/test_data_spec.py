import tomllib

import pytest

from experiments.small_study import spec_with
from pomona.errors import PomonaError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.spec_reader import read, spec_of
from pomona.experiments.variation import Variation


def names(**keys):
    return [variant.name for variant in DataSpec("toy", "mq2008", **keys).variants()]


def test_variants_are_all_combinations_and_the_complete_data_keep_their_name():
    assert names() == ["toy"]
    assert names(each={"train_fraction": [0.5, 1.0]}) == ["toy train_fraction=0.5", "toy"]
    both = {"n_features": [2, "all"], "train_fraction": [0.5, 1]}
    assert names(each=both) == [
        "toy n_features=2 train_fraction=0.5",
        "toy n_features=2 train_fraction=1.0",
        "toy n_features=all train_fraction=0.5",
        "toy",
    ]


def test_draws_repeat_what_is_drawn_and_nothing_else():
    assert names(each={"label_noise": [0, 0.1]}, draw=(3, 4)) == [
        "toy",
        "toy label_noise=0.1 draw=3",
        "toy label_noise=0.1 draw=4",
    ]
    listed = {"features": [["a", "b"], "all"]}
    assert names(each=listed, draw=(3, 4)) == ["toy features=2", "toy"]  # a list of features is no draw
    assert names(label_noise=0.1, draw=(3, 4)) == ["toy draw=3", "toy draw=4"]
    assert names(label_noise=0.1) == ["toy"]
    (one,) = DataSpec("toy", "mq2008", label_noise=0.1, draw=(7,), noise_valid=False).variants()
    assert one.variation == Variation(label_noise=0.1, draw=7, noise_valid=False)
    assert not DataSpec("toy", "mq2008", label_noise=0.1).is_study
    assert DataSpec("toy", "mq2008", label_noise=0.1, draw=(3, 4)).is_study


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"each": {"train_fraction": [0.0]}}, "each.train_fraction: .*found 0.0, expected more than 0"),
        ({"each": {"label_noise": [0.1, 1.5]}}, "each.label_noise: .*found 1.5, expected a share"),
        (
            {"each": {"n_features": ["some"]}},
            "each.n_features: .*found 'some', expected a whole number",
        ),
        (
            {"each": {"n_feature": [2]}},
            "unknown variable of a dataset .*did you mean 'n_features'",
        ),
        ({"each": {"label_noise": []}}, "expected different values, one at least"),
        ({"each": {"label_noise": [0.1, 0.1]}}, "expected different values, one at least"),
        ({"each": {"label_noise": 0.1}}, "each.label_noise: found 0.1, expected a list"),
        ({"each": {"label_noise": [0.1]}, "label_noise": 0.2}, "label_noise is given as well"),
        ({"train_fraction": 2.0}, "train_fraction: found 2.0"),
        ({"features": ["a", "a"]}, "features: .*expected different names"),
        ({"features": ["a"], "n_features": 2}, "n_features is given as well"),
        ({"draw": [1, 1]}, "draw: found .*expected different whole numbers"),
        ({"curves": ["tests"]}, "curves: unknown part 'tests': did you mean 'test'"),
        ({"split": [0.8, 0.3]}, r"split: found \[0.8, 0.3\], expected the shares .* add up to 1"),
        ({"split": [1.0]}, "split: found .*expected the shares"),
        ({"split": [0.5, 0.5, 0.0]}, "split: found .*expected the shares"),
        ({"optional": "yes"}, "optional: found 'yes'"),
    ],
)
def test_refused_with_its_key(keys, message):
    with pytest.raises(PomonaError, match=message):
        spec_with(keys)


def test_the_line_of_a_refused_value(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(
        '[[dataset]]\nsource = "mq2008"\neach.label_noise = [0, 2]\n\n[[ranker]]\nranker = "mart"\n'
    )
    with pytest.raises(PomonaError, match=r"spec.toml:3: dataset 1 each.label_noise: .*found 2.0"):
        read(path)


def test_toml_and_back():
    spec = spec_with(
        {
            "each": {"train_fraction": [0.1, 1], "n_features": [2, "all"]},
            "draw": [0, 1],
            "noise_valid": False,
            "curves": ["test", "train"],
            "split": [0.6, 0.2, 0.2],
        },
        {"ranker": "mart", "each": {"n_leaves": [2, 4]}},
        norm_performance=True,
    )
    assert spec.datasets[0].curves == ("train", "test")
    assert spec.datasets[0].split == (0.6, 0.2, 0.2)
    assert [row.varied for row in spec.rankers] == [("n_leaves",)] * 2
    assert spec_of(tomllib.loads(spec.to_toml())) == spec
    assert spec_with({"draw": 3}).datasets[0].draw == (3,)


def test_a_variant_may_not_be_called_as_a_dataset():
    with pytest.raises(PomonaError, match=r"two are called 'toy label_noise=0\.1'"):
        spec_of(
            {
                "dataset": [
                    {"name": "toy", "source": "mq2008", "each": {"label_noise": [0.1]}},
                    {"name": "toy label_noise=0.1", "source": "mq2008"},
                ],
                "ranker": [{"ranker": "mart"}],
            }
        )


def test_what_cannot_be_split_or_left_out():
    with pytest.raises(PomonaError, match="split: train and test files are a split already"):
        DataSpec("x", Files("a.txt", "b.txt"), split=(0.8, 0.2))
    with pytest.raises(PomonaError, match="optional: only a collection or a directory can be optional"):
        DataSpec("x", Simulated(), optional=True)


def test_an_optional_path_need_not_exist(tmp_path):
    path = tmp_path / "spec.toml"
    text = '[[dataset]]\nsource = "nowhere"\n{}\n[[ranker]]\nranker = "mart"\n'
    path.write_text(text.format("optional = true\n"))
    spec = read(path)
    assert spec.datasets[0].source == str(tmp_path / "nowhere")
    assert spec_of(tomllib.loads(spec.to_toml())) == spec
    path.write_text(text.format(""))
    with pytest.raises(PomonaError, match="unknown collection, directory or file 'nowhere'"):
        read(path)

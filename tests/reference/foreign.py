"""Random models as other trainers would write them, and documents that hit their thresholds."""

import numpy as np

from reference import forest as plain

SPECIAL = [0.0, -0.0, 1e-35, -1e-35, 1e-40, -1e-40, 5e-324, 0.1, -0.3, 1e30, -1e30, 1.5]
N_FEATURES = 4


def random_trees(random, n_trees, thresholds=SPECIAL):
    """Trees of 1 to 20 leaves."""
    limits = np.concatenate([thresholds, random.normal(size=8)])
    return [
        plain.random_tree(random, int(random.integers(1, 20)), N_FEATURES, limits) for _ in range(n_trees)
    ]


def documents(random, thresholds, n=40, *, infinite=True, dtype=np.float64):
    """Values on the thresholds, beside them, zero of both signs, undefined, infinite, denormal."""
    limits = np.concatenate([[0.0], np.asarray(thresholds, dtype)]).astype(dtype)
    with np.errstate(over="ignore", under="ignore"):
        beside = [np.nextafter(limits, np.asarray(way, dtype)) for way in (-np.inf, np.inf)]
        specials = np.array([*SPECIAL, np.nan, np.nan, *([np.inf, -np.inf] if infinite else [])]).astype(
            dtype
        )
    choices = np.concatenate([limits, *beside, specials, random.normal(size=9).astype(dtype)])
    return random.choice(choices, (n, N_FEATURES))


def lightgbm_text(random, trees, head=""):
    """A LightGBM model of these trees, with every kind of missing value; and its thresholds."""
    blocks = []
    for number, tree in enumerate(trees):
        n = len(tree["feature"])
        kinds = random.choice([0, 2, 4, 6, 8, 10], n)
        fields = {
            "num_leaves": [n + 1],
            "num_cat": [0],
            "split_feature": tree["feature"],
            "split_gain": random.random(n),
            "threshold": tree["threshold"],
            "decision_type": kinds,
            "left_child": tree["left"],
            "right_child": tree["right"],
            "leaf_value": random.normal(size=n + 1),
            "shrinkage": [1],
        }
        text = "".join(f"{name}={' '.join(map(str, np.asarray(x).tolist()))}\n" for name, x in fields.items())
        blocks.append(f"Tree={number}\n{text}\n\n")
    names = " ".join(f"Column_{j}" for j in range(N_FEATURES))
    infos = " ".join(["[-inf:inf]"] * N_FEATURES)
    top = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
    top += f"max_feature_idx={N_FEATURES - 1}\nobjective=lambdarank\n{head}"
    top += f"feature_names={names}\nfeature_infos={infos}\n"
    sizes = " ".join(str(len(block)) for block in blocks)
    return f"{top}tree_sizes={sizes}\n\n{''.join(blocks)}end of trees\n\nparameters:\nend of parameters\n"


def xgboost_model(random, trees, base_score="5E-1", objective="rank:ndcg", weights=None):
    """An XGBoost model of these trees: what its JSON file holds."""
    made = [_xgboost_tree(random, number, tree) for number, tree in enumerate(trees)]
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(made))},
        "iteration_indptr": list(range(len(made) + 1)),
        "tree_info": [0] * len(made),
        "trees": made,
    }
    booster = {"name": "gbtree", "model": model}
    if weights is not None:
        booster = {"name": "dart", "gbtree": booster, "weight_drop": weights}
    parameters = {
        "base_score": base_score,
        "num_class": "0",
        "num_feature": str(N_FEATURES),
        "num_target": "1",
    }
    told = {"name": objective}
    if objective.startswith("rank"):
        told["lambdarank_param"] = {}
    else:
        told["reg_loss_param"] = {"scale_pos_weight": "1"}
    learner = {
        "attributes": {},
        "feature_names": [],
        "feature_types": [],
        "gradient_booster": booster,
        "learner_model_param": parameters,
        "objective": told,
    }
    return {"learner": learner, "version": [2, 1, 0]}


def _xgboost_tree(random, number, tree):
    n = len(tree["feature"])
    children = np.stack([tree["left"], tree["right"]], axis=1).ravel() if n else np.empty(0, int)
    place = {0: 0} if n else {~0: 0}
    place |= {int(child): at for at, child in enumerate(children, 1)}
    size = 2 * n + 1
    left, right, split, default = [-1] * size, [-1] * size, [0] * size, [0] * size
    condition, parents = [0.0] * size, [2**31 - 1] * size
    for child, at in place.items():
        if child < 0:
            condition[at] = float(np.float32(random.normal()))
            continue
        left[at], right[at] = 2 * child + 1, 2 * child + 2
        parents[2 * child + 1] = parents[2 * child + 2] = at
        split[at], default[at] = int(tree["feature"][child]), int(tree["nan_left"][child])
        condition[at] = float(np.float32(tree["threshold"][child]))
    zeros = [0.0] * size
    return {
        "base_weights": zeros,
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": default,
        "id": number,
        "left_children": left,
        "loss_changes": [abs(one) for one in condition],
        "parents": parents,
        "right_children": right,
        "split_conditions": condition,
        "split_indices": split,
        "split_type": [0] * size,
        "sum_hessian": zeros,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(N_FEATURES),
            "num_nodes": str(size),
            "size_leaf_vector": "1",
        },
    }

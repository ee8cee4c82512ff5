"""Objectives without a form on a GPU are computed by the CPU."""

from gpu_checks import everywhere


def forms():
    from pomona.objectives.cuda.form import cuda_form
    from pomona.objectives.lambdas import LambdaObjective
    from pomona.objectives.multinomial import MultinomialObjective
    from pomona.objectives.regression import RegressionObjective

    assert cuda_form(RegressionObjective([0, 1])) is not None
    assert cuda_form(LambdaObjective("ndcg", [0, 1], [0, 2])) is not None
    assert cuda_form(MultinomialObjective([0, 1])) is None


test_forms = everywhere(__file__, "forms")

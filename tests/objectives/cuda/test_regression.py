from gpu_checks import everywhere


def gradients():
    import numpy as np

    from pomona._cuda import cuda
    from pomona.objectives.cuda.form import cuda_form
    from pomona.objectives.regression import RegressionObjective

    random = np.random.default_rng(0)
    scores = random.normal(size=50)
    objective = RegressionObjective(random.integers(0, 5, 50), target="gain", weights=random.random(50))
    gradient, hessian = np.empty((2, 50), np.float32)
    objective.gradients(scores, gradient, hessian)
    on_gpu = [cuda.to_device(np.empty(50, np.float32)) for _ in range(2)]
    cuda_form(objective).gradients(cuda.to_device(scores), *on_gpu)
    assert on_gpu[0].copy_to_host().tobytes() == gradient.tobytes()
    assert on_gpu[1].copy_to_host().tobytes() == hessian.tobytes()


test_gradients = everywhere(__file__, "gradients")

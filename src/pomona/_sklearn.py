"""The only file that imports scikit-learn, and without what few of its functions use: 0.25 s instead of 1 s.

Its first import loads `scipy.stats` and, where it is installed, pandas, among others. Here it is given others
in their place, which load them when they are first used.
"""

from __future__ import annotations

from pomona._when_used import when_used

with when_used("scipy.stats", "scipy.special", "pandas", "narwhals", "narwhals.stable", "narwhals.stable.v2"):
    from sklearn import get_config as get_config
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import OneToOneFeatureMixin as OneToOneFeatureMixin
    from sklearn.base import TransformerMixin as TransformerMixin
    from sklearn.base import clone as clone
    from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning
    from sklearn.exceptions import NotFittedError as NotFittedError
    from sklearn.utils import estimator_html_repr as estimator_html_repr
    from sklearn.utils.metadata_routing import MetadataRequest as MetadataRequest
    from sklearn.utils.metadata_routing import get_routing_for_object as get_routing_for_object
    from sklearn.utils.validation import check_is_fitted as check_is_fitted
    from sklearn.utils.validation import validate_data as validate_data

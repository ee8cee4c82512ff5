"""trec_eval, versions 9 and 10: the same files in, the same text out, byte for byte."""

from pomona.tools.trec_eval.report import trec_eval

__all__ = ["trec_eval"]

"""A small simulated web search: named features and graded labels, with nothing to download.

The story. A *query* has some words with their rarity (IDF), is more or less navigational (it looks for one
site rather than for a topic), more or less clear (how well words tell what it means), popular (how many
clicks were logged), sometimes after news; some queries are easy, a few have no answer at all. A *document*
retrieved for it has a topical match, a match with the site sought, an authority, a length and an age, and
may be stuffed with keywords by a spammer.

*Relevance* is what these make together, and is not linear in them: topic counts more on pages of high
authority; to be the site sought counts the more, the more navigational the query; stuffed pages are bad
however well their words match; old pages are bad only for news queries; very short and very long pages are
worse than middling ones. An *annotator* sees relevance with some error and gives a grade 0..4 by fixed
thresholds, set so that about 52, 32, 13, 2 and 1 % of documents get them, as in MSLR-WEB.

*Features* are what an engine could measure, the same kinds as in MSLR-WEB: for each of five streams of text
(body, anchor, title, url, whole document) term counts, TF-IDF, BM25 and language models, all computed from
one noisy match of that stream, hence correlated in groups as real ones are; and eleven of the page:
PageRank, clicks, spam score, age, URL depth … Spam raises text features while it lowers relevance; clicks
tell much, but only for popular queries; IDF and the number of words are the same for all documents of a
query. So no single feature suffices, combining them helps, and trees find more than linear models do.

With `context`, relevance also depends on the other documents of the list. What a query is about happened at
some time, and most pages that are found for it are of that time: a page much older or younger than the mean
of its list is about something else. Lists are of any age, so that a page's own age does not tell.

The world is the same for every seed (a seed draws other queries and documents), so that data of one seed can
be learnt from and of another tested on. Queries are drawn in blocks, each from its own random stream: the
bits depend on the seed, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pomona._types import Features, Labels, Offsets
from pomona.data.dataset import Dataset
from pomona.data.text import TextColumn, offsets
from pomona.errors import InputError

Column = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Stream:
    """A part of a document's text: how its words follow topic, site and spam, and how long it is."""

    topic: float
    site: float
    stuffing: float
    noise: float
    coverage: float  # log-odds that an average document has a word of the query here
    rate: float  # occurrences of such a word beyond the first
    mean_length: float
    length_spread: float


STREAMS = {
    "body": _Stream(1.0, 0.1, 1.3, 0.7, 1.0, 3.0, 600.0, 0.8),
    "anchor": _Stream(0.4, 0.8, 0.2, 1.1, 0.0, 2.0, 25.0, 0.9),
    "title": _Stream(0.8, 0.4, 1.0, 0.8, 0.2, 0.2, 8.0, 0.4),
    "url": _Stream(0.25, 0.8, 0.5, 1.0, -0.8, 0.1, 6.0, 0.4),
    "document": _Stream(1.0, 0.3, 1.1, 0.65, 1.2, 3.5, 650.0, 0.8),
}
_PAGE = (
    *("pagerank", "clicks", "spam_score", "age_days", "url_depth"),
    *("siterank", "inlinks", "outlinks", "url_characters", "url_clicks", "dwell_time"),
)
_MAIN_STATISTICS = ("tf_idf", "lm_dirichlet", "tf", "covered_ratio", "idf", "length")
_MORE_STATISTICS = (
    *("covered", "boolean", "vector_space", "lm_jelinek_mercer", "lm_absolute_discount"),
    *(f"{of}_{what}" for what in ("tf", "normalized_tf", "tf_idf") for of in ("min", "max", "mean", "var")),
    "normalized_tf",
)
NAMED_FEATURES = (
    *(f"{stream}_bm25" for stream in STREAMS),
    *_PAGE,
    *(f"{stream}_{statistic}" for statistic in _MAIN_STATISTICS for stream in STREAMS),
    *(f"{stream}_{statistic}" for statistic in _MORE_STATISTICS for stream in STREAMS),
)
"""The 136 features that mean something, the most useful first: 46 with the main statistics, then the rest."""

# Where annotators change from one grade to the next, in deviations of observed relevance; measured once on
# four million documents for shares of 52, 32, 13, 2 and 1 %.
_THRESHOLDS = np.array([0.109, 0.957, 1.728, 2.096], np.float32)
_RELEVANCE_MEAN, _RELEVANCE_DEVIATION = -0.685, 1.535

_QUERIES_IN_BLOCK = 64
_SHARE_WITHOUT_ANSWER, _SHARE_SHORT, _LENGTH_SPREAD = 0.03, 0.04, 0.6
_SPREAD_OF_TIMES = 1.5  # between lists, in deviations of the ages of pages of one list


def simulate(
    n_queries: int = 200,
    *,
    docs_per_query: float = 40.0,
    n_features: int = 46,
    noise: float = 0.4,
    context: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Draw a simulated web-search dataset: named features, grades 0..4, document ids.

    Parameters
    ----------
    n_queries : number of queries.
    docs_per_query : mean number of documents of a query; the numbers are log-normal, a few queries short.
    n_features : the first so many of `NAMED_FEATURES`; beyond 136, features of pure chance are added.
    noise : deviation of the annotators' error, in deviations of relevance.
    context : how much relevance depends on the other documents of the list, against all else; 0 not at all.
    seed : draws other queries and documents of the same world.

    >>> data = simulate(n_queries=20, docs_per_query=10, seed=1)
    >>> data.n_queries, data.n_features, data.feature_names[:2], data.doc_ids[0]
    (20, 46, ('body_bm25', 'anchor_bm25'), 'doc0000001')
    """
    at_least_1, at_least_0 = (n_queries, n_features, docs_per_query), (noise, context, seed)
    if not (all(1 <= x < np.inf for x in at_least_1) and all(0 <= x < np.inf for x in at_least_0)):
        raise InputError(
            "n_queries, n_features and docs_per_query must be 1 at least, noise, context and seed 0 at least;"
            f" found {n_queries}, {n_features}, {docs_per_query}, {noise}, {context} and {seed}"
        )
    from pomona._jit import over_chunks

    n_blocks = -(-n_queries // _QUERIES_IN_BLOCK)
    query_seed, *block_seeds, time_seed = np.random.SeedSequence(seed).spawn(2 + n_blocks)
    lengths, queries = _draw_queries(np.random.default_rng(query_seed), n_queries, docs_per_query)
    times = _SPREAD_OF_TIMES * (context > 0) * np.random.default_rng(time_seed).standard_normal(n_queries)
    queries["time"] = times.astype(np.float32)
    query_ptr = offsets(lengths)
    n_docs = int(query_ptr[-1])
    X, y = np.empty((n_docs, n_features), np.float32), np.empty(n_docs, np.float32)

    def fill(first_block: int, last_block: int) -> None:
        for block in range(first_block, last_block):
            first = block * _QUERIES_IN_BLOCK
            last = min(first + _QUERIES_IN_BLOCK, n_queries)
            rows = slice(query_ptr[first], query_ptr[last])
            rng = np.random.default_rng(block_seeds[block])
            query = {
                name: np.repeat(values[first:last], lengths[first:last]) for name, values in queries.items()
            }
            _fill_block(rng, query, lengths[first:last], noise, context, X[rows], y[rows])

    over_chunks(fill, n_blocks)
    return Dataset.from_parts(
        X,
        y,
        query_ptr,
        np.arange(1, n_queries + 1),
        doc_ids=_document_ids(n_docs),
        feature_names=[*NAMED_FEATURES, *(f"chance{j}" for j in range(1, n_features))][:n_features],
    )


def _draw_queries(
    rng: np.random.Generator, n: int, docs_per_query: float
) -> tuple[Offsets, dict[str, Column]]:
    """The number of documents of each query, and what else is drawn once a query."""
    mean = max(1.0, (docs_per_query - 3 * _SHARE_SHORT) / (1 - _SHARE_SHORT))
    lengths = rng.lognormal(np.log(mean) - _LENGTH_SPREAD**2 / 2, _LENGTH_SPREAD, n)
    lengths = np.where(rng.random(n) < _SHARE_SHORT, rng.integers(1, 6, n), lengths)
    navigational = rng.beta(0.6, 1.2, n)
    # Who looks for a site types few and rare words: so a model can partly tell such queries.
    idf = rng.gamma(9.0, 0.5, n) + 2 * navigational
    values = {
        "navigational": navigational,
        "n_words": np.minimum(8, 1 + rng.poisson(3.0 * (1 - navigational))),
        "clarity": rng.lognormal(-0.1, 0.4, n),
        "popularity": rng.lognormal(0.0, 1.5, n),
        "wants_news": rng.random(n) < 0.15,
        "ease": np.where(rng.random(n) < _SHARE_WITHOUT_ANSWER, -4.0, rng.normal(0, 0.5, n)),
        # A word is as rare in titles as in bodies only roughly.
        **{f"{stream}_idf": idf * rng.lognormal(0.0, 0.1, n) for stream in STREAMS},
    }
    n_docs = np.maximum(1, np.rint(lengths)).astype(np.int64)
    return n_docs, {name: column.astype(np.float32) for name, column in values.items()}


def _fill_block(
    rng: np.random.Generator,
    query: dict[str, Column],
    lengths: Offsets,
    noise: float,
    context: float,
    out_X: Features,
    out_y: Labels,
) -> None:
    """Draw the documents of some queries, so many of each; `query` has one value a document."""
    n = len(out_y)

    def normal(deviation: float = 1.0) -> Column:
        return np.float32(deviation) * rng.standard_normal(n, np.float32)

    document = {
        "topic": normal(),
        "site": normal(),
        "authority": normal(),
        "length": normal(),
        "age": normal() + query["time"],
    }
    document["stuffed"] = (normal() < -1.4 - 0.5 * document["authority"]).astype(np.float32)
    relevance = _relevance(query, document)
    if context:
        relevance += np.float32(context) * _fit(document["age"], lengths)
        relevance /= np.float32(np.sqrt(1 + context**2))
    observed = (relevance + normal(noise)) / np.float32(np.sqrt(1 + noise**2))
    out_y[:] = np.searchsorted(_THRESHOLDS, observed, side="right")
    place = {name: j for j, name in enumerate(NAMED_FEATURES[: out_X.shape[1]])}
    for stream in STREAMS:
        for statistic, column in _stream_columns(stream, query, document, normal):
            if (j := place.get(f"{stream}_{statistic}")) is not None:
                out_X[:, j] = column
    for name, column in _page_columns(query, document, relevance, normal):
        if (j := place.get(name)) is not None:
            out_X[:, j] = column
    for j in range(len(place), out_X.shape[1]):
        out_X[:, j] = normal()


def _relevance(query: dict[str, Column], document: dict[str, Column]) -> Column:
    """True relevance of each document, in deviations from the mean of all."""
    topic, navigational = document["topic"], query["navigational"]
    raw = (
        query["ease"]
        + (1.6 - 1.2 * navigational) * np.tanh(0.9 * topic) * (1 + 0.7 * np.tanh(document["authority"]))
        + 2.8 * navigational / (1 + np.exp(4 * (0.8 - document["site"])))
        + 0.1 * document["authority"]
        - 1.6 * document["stuffed"]
        - 0.9 * query["wants_news"] * np.maximum(document["age"], 0)
        - 0.6 * np.minimum(document["length"] ** 2, 4)
    )
    relevance: Column = ((raw - _RELEVANCE_MEAN) / _RELEVANCE_DEVIATION).astype(np.float32)
    return relevance


def _fit(age: Column, lengths: Offsets) -> Column:
    """How near each document is to the mean age of its list, of mean 0 and deviation 1 over all."""
    means = np.add.reduceat(age, offsets(lengths)[:-1]) / lengths
    away = age - np.repeat(means, lengths)
    fit: Column = ((1 - away**2) / np.sqrt(2)).astype(np.float32)
    return fit


def _stream_columns(
    name: str, query: dict[str, Column], document: dict[str, Column], normal: Callable[..., Column]
) -> Iterator[tuple[str, Column]]:
    """The 25 statistics of one stream of text, from one noisy match of query and stream."""
    stream = STREAMS[name]
    n_words, topic = query["n_words"], document["topic"]
    match = query["clarity"] * (stream.topic * topic + stream.site * query["navigational"] * document["site"])
    match += stream.stuffing * document["stuffed"] + normal(stream.noise)
    log_length = stream.length_spread * (0.8 * document["length"] + normal(0.6))
    if name == "anchor":  # who is linked to has anchor texts; many a page has none
        log_length += 0.4 * document["authority"]
    length = np.rint(stream.mean_length * np.exp(log_length))
    if name == "anchor":
        length[0.5 * document["authority"] + normal() < -0.3] = 0
    filled = length > 0
    idf = query[f"{name}_idf"]
    covered = np.rint(n_words / (1 + np.exp(-(match + stream.coverage)))) * filled
    some = covered > 0
    relative_length = np.minimum(length / stream.mean_length, 20)
    mean_tf = (1 + np.rint(stream.rate * np.exp(0.5 * match) * np.sqrt(relative_length))) * some
    tf = mean_tf * covered
    spread = np.exp(normal(0.3))
    max_tf = np.rint(np.maximum(mean_tf, mean_tf * spread)) * some
    all_covered = covered == n_words
    min_tf = np.rint(np.minimum(mean_tf, mean_tf / spread)) * (some & all_covered)
    var_tf = (max_tf - min_tf) ** 2 / 4
    per_word = 1 / np.maximum(length, 1)
    rarity = np.exp(-idf)  # a word's share of the collection

    yield "covered", covered
    yield "covered_ratio", covered / n_words
    yield "boolean", all_covered.astype(np.float32)
    yield "length", length
    yield "idf", idf * n_words
    yield "tf", tf
    yield "min_tf", min_tf
    yield "max_tf", max_tf
    yield "mean_tf", tf / n_words
    yield "var_tf", var_tf
    yield "normalized_tf", tf * per_word
    yield "min_normalized_tf", min_tf * per_word
    yield "max_normalized_tf", max_tf * per_word
    yield "mean_normalized_tf", tf * per_word / n_words
    yield "var_normalized_tf", var_tf * per_word**2
    yield "tf_idf", tf * idf
    yield "min_tf_idf", min_tf * idf
    yield "max_tf_idf", max_tf * idf
    yield "mean_tf_idf", tf * idf / n_words
    yield "var_tf_idf", var_tf * idf**2
    yield "vector_space", tf * idf * np.sqrt(per_word) / np.sqrt(n_words)
    yield "bm25", covered * idf * 2.2 * mean_tf / (mean_tf + 1.2 * (0.7 + 0.3 * relative_length))
    yield "lm_absolute_discount", covered * _log1p(np.maximum(mean_tf - 0.7, 0) * per_word / (0.2 * rarity))
    yield "lm_dirichlet", covered * _log1p(mean_tf / (1000 * rarity)) - n_words * _log1p(length / 1000)
    yield "lm_jelinek_mercer", covered * _log1p(mean_tf * per_word * 9 / rarity)


def _log1p(x: Column) -> Column:
    """log(1 + x); NumPy's `log1p` has other bits on a CPU with AVX-512 than on one without."""
    logarithm: Column = np.log(1 + x)
    return logarithm


def _page_columns(
    query: dict[str, Column], document: dict[str, Column], relevance: Column, normal: Callable[..., Column]
) -> Iterator[tuple[str, Column]]:
    """The 11 features of the page itself and of what users did with it."""
    authority = document["authority"]
    depth = np.floor(
        np.exp(0.9 - 0.25 * authority - 0.3 * document["site"] * query["navigational"] + normal(0.5))
    )
    clicks = np.floor(0.4 * query["popularity"] * np.exp(0.8 * relevance + normal(0.9)))
    yield "pagerank", np.exp(0.7 * authority + normal(0.7))
    yield "siterank", np.exp(0.6 * authority + normal(0.7))
    yield "inlinks", np.floor(np.exp(2 + 1.1 * authority + normal(0.9)))
    yield "outlinks", np.floor(np.exp(2.5 + 0.4 * document["length"] + document["stuffed"] + normal(0.7)))
    yield "url_depth", depth
    yield "url_characters", np.rint(18 + 9 * depth * np.exp(normal(0.3)))
    yield "spam_score", 100 / (1 + np.exp(1.5 - 2.2 * document["stuffed"] + normal(0.8)))
    yield "age_days", np.rint(200 * np.exp(1.3 * document["age"]))
    yield "clicks", clicks
    yield "url_clicks", clicks + np.floor(np.exp(1.5 + 0.9 * authority + normal()))
    yield "dwell_time", np.where(clicks > 0, 25 * np.exp(0.3 * relevance + normal(0.6)), 0)


def _document_ids(n: int) -> TextColumn:
    """`doc0000001`, `doc0000002` …, written digit by digit, a million at a time being slow otherwise."""
    width = max(7, len(str(n)))
    powers = 10 ** np.arange(width - 1, -1, -1)
    texts = np.empty((n, 3 + width), np.uint8)
    texts[:, :3] = np.frombuffer(b"doc", np.uint8)
    texts[:, 3:] = np.arange(1, n + 1)[:, None] // powers % 10 + ord("0")
    return TextColumn(texts.ravel(), np.arange(n + 1, dtype=np.int64) * (3 + width))

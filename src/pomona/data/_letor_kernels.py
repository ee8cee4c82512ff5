"""Kernels of the LETOR reader and writer: from bytes to lines, numbers and features, and back.

A text ends in `PADDING` newlines, so that every line ends and a kernel may look a few bytes ahead;
`words` is the same text seen as the eight bytes that start at each position. Positions are unsigned,
which spares numba's check for negative indices (a sixth of the time). Errors come back as the place and a
code, and become sentences in `letor.py`.
"""

# Numba gives every variable the one type it needs; mypy would have each conversion written out twice.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, assignment"
# ruff: noqa: SIM109 (bytes are compared one by one: what compiles is what is written)

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel

PADDING = 32
LONGEST_QUERY_ID = 255
LARGEST_FEATURE_ID = 10_000_000

# What is wrong at a place.
FINE, BAD_LABEL, NO_QUERY, BAD_QUERY, BAD_FEATURE, ZERO_FEATURE, BAD_VALUE, REPEATED, BEYOND, TOO_LARGE = (
    range(10)
)

# What a piece of text is, read as a number.
_NUMBER, _UNSURE, _UNDEFINED, _OTHER, _INFINITE = range(5)  # infinite: a finite number beyond float32

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _PLUS, _MINUS, _DOT, _COLON, _LETTERS = b"\t\n\r #+-.:A"
_NONE, _ONE, _NINE, _TEN, _ZERO = (np.uint64(value) for value in (0, 1, 9, 10, ord("0")))

# Powers of ten that matter to a float32: 19 digits × 10^-66 is 0 and 1 × 10^40 is infinite.
_LOWEST, _HIGHEST = -65, 39
_POWERS = np.array([float(f"1e{k}") for k in range(_LOWEST, _HIGHEST + 1)])
_ORIGIN = np.uint64(-_LOWEST)  # the place of 10^0
_WHOLE_POWERS = np.array([10**k for k in range(20)], np.uint64)
_EXACT = np.uint64(2**53)

# Eight digits at once: see `read_features`.
_EIGHT_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x0101010101010101)
_EIGHT_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
_BYTE_NUMBERS = np.uint64(0x0001020304050607)
_PAIRS = np.uint64(0x000000FF000000FF)
_PAIR_WEIGHTS_1 = np.uint64(100 + (1_000_000 << 32))
_PAIR_WEIGHTS_2 = np.uint64(1 + (10_000 << 32))
_B7, _B8, _B16, _B19, _B32, _B56, _B63 = (np.uint64(bits) for bits in (7, 8, 16, 19, 32, 56, 63))


@kernel
def _to_float32(mantissa, exponent):
    """(float32 of the double nearest to mantissa × 10^exponent, whether that is certain)."""
    if mantissa <= _EXACT and -22 <= exponent <= 22:
        # Mantissa and power are both exact doubles, so the one operation rounds as the definition does.
        value = np.float64(np.int64(mantissa))
        if exponent < 0:
            value /= _POWERS[np.uint64(-exponent - _LOWEST)]
        elif exponent > 0:
            value *= _POWERS[np.uint64(exponent - _LOWEST)]
        return np.float32(value), True
    if mantissa == _NONE or exponent < _LOWEST:
        return np.float32(0.0), True
    if exponent > _HIGHEST:
        return np.float32(np.inf), True
    # Three roundings and the dropped digits err by less than 2^-51: the nearest double lies between these
    # two, so if both have the same float32, that is its float32 too. They differ once in 10^8 numbers.
    value = np.float64(mantissa) * _POWERS[np.uint64(exponent - _LOWEST)]
    low, high = np.float32(value * (1 - 2.0**-50)), np.float32(value * (1 + 2.0**-50))
    return low, low == high


@kernel
def _read_word(text, p, signed):
    """(end, value, status) of NULL, or of nan, inf and infinity in any case."""
    a, b, c = text[p] | 32, text[p + _ONE] | 32, text[p + np.uint64(2)] | 32
    if a == ord("n") and b == ord("a") and c == ord("n"):
        return p + np.uint64(3), np.float32(np.nan), _NUMBER
    n_same = 0
    if a == ord("i") and b == ord("n") and c == ord("f"):
        p += np.uint64(3)
        for letter in b"inity":
            n_same += (text[p + np.uint64(n_same)] | 32) == letter
        return p + np.uint64(n_same if n_same == 5 else 0), np.float32(np.inf), _NUMBER
    for letter in b"NULL":
        n_same += text[p + np.uint64(n_same)] == letter
    return p + np.uint64(n_same), np.float32(np.nan), _UNDEFINED if n_same == 4 and not signed else _OTHER


@kernel
def _read_number(text, p):
    """(end, value, status) of whatever stands at `p`: any number of digits, exponents, nan, inf, NULL."""
    sign = text[p]
    if sign == _MINUS or sign == _PLUS:
        p += _ONE
    start, n_digits, after_dot = p, 0, False
    mantissa, exponent = _NONE, 0  # of the first 19 significant digits
    while True:
        digit = np.uint64(text[p]) - _ZERO
        if digit <= _NINE:
            n_digits += 1
            if mantissa < _WHOLE_POWERS[18]:
                mantissa = mantissa * _TEN + digit
                exponent -= np.int64(after_dot)
            else:
                exponent += np.int64(not after_dot)
        elif text[p] == _DOT and not after_dot:
            after_dot = True
        else:
            break
        p += _ONE
    if n_digits == 0:
        p, value, status = _read_word(text, start, start != p or sign == _MINUS or sign == _PLUS)
        return p, -value if sign == _MINUS else value, status
    if text[p] | 32 == ord("e"):
        p += _ONE
        exponent_sign = text[p]
        if exponent_sign == _MINUS or exponent_sign == _PLUS:
            p += _ONE
        start, power = p, 0
        while True:
            digit = np.uint64(text[p]) - _ZERO
            if digit > _NINE:
                break
            if power < 10**15:  # beyond any number of digits that a file can hold
                power = power * 10 + np.int64(digit)
            p += _ONE
        if p == start:
            return p, np.float32(np.nan), _OTHER
        exponent += -power if exponent_sign == _MINUS else power
    value, certain = _to_float32(mantissa, exponent)
    status = _INFINITE if certain and np.isinf(value) else _NUMBER if certain else _UNSURE
    return p, -value if sign == _MINUS else value, status


@kernel
def _skip_blanks(text, p):
    while text[p] == _SPACE or text[p] == _TAB:
        p += _ONE
    return p


@kernel
def _ends_content(text, p):
    """Whether the line, or what it holds before its comment, ends here."""
    c = text[p]
    return c == _NEWLINE or c == _HASH or (c == _RETURN and text[p + _ONE] == _NEWLINE)


@kernel
def _ends_token(text, p):
    c = text[p]
    return c == _SPACE or c == _TAB or _ends_content(text, p)


@kernel
def _find_newline(text, words, p, stop):
    """The first newline at or after `p`; some place not before `stop` when there is none before it."""
    while p < stop:
        other = words[p] ^ _EIGHT_NEWLINES
        if ((other - _LOW_BITS) & ~other & _HIGH_BITS) != _NONE:
            while text[p] != _NEWLINE:
                p += _ONE
            return p
        p += _B8
    return p


@kernel
def _read_query_id(text, p):
    """(end, value, whether it is an int64 written the way integers print) of the query id at `p`."""
    start, negative = p, text[p] == _MINUS
    if negative:
        p += _ONE
    first, value = p, _NONE
    while True:
        digit = np.uint64(text[p]) - _ZERO
        if digit > _NINE:
            break
        value = value * _TEN + digit
        p += _ONE
    n_digits = p - first
    fits = n_digits <= np.uint64(19) and value <= np.uint64(2**63 - 1) + np.uint64(negative)
    canonical = text[first] != ord("0") or p - start == _ONE
    end = p
    while text[end] > _SPACE and text[end] != _HASH:
        end += _ONE
    is_integer = end == p and n_digits > _NONE and fits and canonical
    return end, -np.int64(value) if negative else np.int64(value), is_integer


@kernel
def _last_feature_id(text, start, end, with_comments):
    """The id of a line's last feature, found from its end; a guess, as lines may be in any order or wrong."""
    p = end
    if with_comments:
        while p > start and text[p] != _HASH:
            p -= _ONE
        if text[p] != _HASH:
            p = end
    while p > start and text[p] != _COLON:
        p -= _ONE
    feature, weight = 0, 1
    while p > start and weight <= LARGEST_FEATURE_ID:
        p -= _ONE
        digit = np.uint64(text[p]) - _ZERO
        if digit > _NINE:
            break
        feature += weight * np.int64(digit)
        weight *= 10
    return feature if feature <= LARGEST_FEATURE_ID else 0


@kernel
def index_lines(first, last, text, words, with_queries):
    """The heads of the documents whose lines start in bytes `[first, last)`, up to the first bad one.

    (labels, inf where only Python can tell; query ids as integers; where they start; where the features
    start; whether every query id is an integer; the largest last feature id; place and kind of error).
    """
    n_lines, n_comments = 1, 0
    for c in text[first:last]:
        n_lines += c == _NEWLINE
        n_comments += c == _HASH
    labels = np.empty(n_lines, np.float32)
    queries = np.zeros(n_lines, np.int64)
    queries_at = np.zeros(n_lines, np.int64)
    features_at = np.empty(n_lines, np.int64)
    n, all_integers, width, error_at, error = 0, True, 0, 0, FINE
    stop, limit = np.uint64(last), np.uint64(text.size - 8)
    start = np.uint64(first)
    if first > 0:
        start = _find_newline(text, words, start - _ONE, stop - _ONE) + _ONE
    while start < stop:
        end = _find_newline(text, words, start, limit)
        p = _skip_blanks(text, start)
        if not _ends_content(text, p):
            error_at = np.int64(p)
            p, label, status = _read_number(text, p)
            if status > _UNSURE or not _ends_token(text, p) or (status == _NUMBER and np.isinf(label)):
                error = BAD_LABEL
                break
            labels[n] = label if status == _NUMBER else np.inf
            if with_queries:
                p = _skip_blanks(text, p)
                error_at = np.int64(p)
                is_query = True
                for letter in b"qid:":
                    is_query &= text[p] == letter
                    p += _ONE
                if not is_query:
                    error = NO_QUERY
                    break
                error_at = queries_at[n] = np.int64(p)
                p, queries[n], is_integer = _read_query_id(text, p)
                length = np.int64(p) - error_at
                if length == 0 or length > LONGEST_QUERY_ID or not _ends_token(text, p):
                    error = BAD_QUERY
                    break
                all_integers &= is_integer
            features_at[n] = np.int64(p)
            width = max(width, _last_feature_id(text, p, end, n_comments > 0))
            n += 1
        start = end + _ONE
    return labels[:n], queries[:n], queries_at[:n], features_at[:n], all_integers, width, error_at, error


@kernel
def read_features(
    first, last, text, words, features_at, rows, undefined, fixed_width, X, out_hash_at, out_unsure
):
    """Read the features of lines `[first, last)` into rows of X, and note where their comments start.

    (place and kind of the first error; the largest feature id; where it is if X has no place for it; number
    of undefined values). Line i goes to row rows[i], or i if `rows` is empty. Ids beyond X are wrong only
    if its width is fixed. Lines with a value that only Python can tell are marked as unsure.
    """
    width = X.shape[1]
    error_at, error, largest, largest_at, n_undefined = 0, FINE, 0, 0, 0
    seen_in = np.zeros(0, np.int64)
    for i in range(first, last):
        r = rows[i] if rows.size else i
        row = X[r]
        p = np.uint64(features_at[i])
        in_order, highest, n_defined = True, 0, 0
        while True:
            token, feature = p, 0
            while True:
                digit = np.uint64(text[p]) - _ZERO
                if digit > _NINE:
                    break
                feature = min(feature * 10 + np.int64(digit), LARGEST_FEATURE_ID + 1)
                p += _ONE
            if p == token and (text[p] == _SPACE or text[p] == _TAB):
                p += _ONE
                continue
            if p == token and _ends_content(text, p):
                break
            error_at = np.int64(token)
            if p == token or text[p] != _COLON:
                error = BAD_FEATURE
                break
            if feature == 0:
                error = ZERO_FEATURE
                break
            if feature > highest:
                if in_order:
                    for j in range(highest, min(feature - 1, width)):
                        row[j] = undefined
                highest = feature
            elif in_order:
                # Read this line again, marking the features it holds: only now can one be repeated.
                in_order, highest, n_defined = False, 0, 0
                row[:] = undefined
                if seen_in.size < width:
                    seen_in = np.full(width, -1, np.int64)
                p = np.uint64(features_at[i])
                continue
            if feature > width:
                if fixed_width or feature > LARGEST_FEATURE_ID:
                    error = BEYOND
                    break
                if feature > largest:
                    largest, largest_at = feature, error_at
            elif not in_order:
                if seen_in[feature - 1] == i:
                    error = REPEATED
                    break
                seen_in[feature - 1] = i
            p += _ONE
            value_at = p
            # The common number, a decimal of at most 19 digits, is read here: a call would cost as much.
            negative = text[p] == _MINUS
            if negative:
                p += _ONE
            digits_at, mantissa = p, _NONE
            while True:
                digit = np.uint64(text[p]) - _ZERO
                if digit > _NINE:
                    break
                mantissa = mantissa * _TEN + digit
                p += _ONE
            n_digits, n_decimals = p - digits_at, _NONE
            if text[p] == _DOT:
                p += _ONE
                # How many decimals there are cannot be predicted, so eight at a time are taken without a
                # branch: bytes that are no digit get their high bit set, the lowest of them tells the number
                # of digits, which are shifted to the end (zeros come before them) and added pairwise.
                n_taken = _B8
                while n_taken == _B8:
                    digits = words[p] ^ _EIGHT_ZEROS
                    others = ((digits + _ABOVE_NINE) | digits) & _HIGH_BITS
                    if others != _NONE:
                        n_taken = (((others & (~others + _ONE)) >> _B7) * _BYTE_NUMBERS) >> _B56
                        digits = (digits << _ONE) << (_B63 - _B8 * n_taken)
                    digits = digits * _TEN + (digits >> _B8)
                    pairs = (digits & _PAIRS) * _PAIR_WEIGHTS_1
                    pairs += ((digits >> _B16) & _PAIRS) * _PAIR_WEIGHTS_2
                    mantissa = mantissa * _WHOLE_POWERS[n_taken] + (pairs >> _B32)
                    p += n_taken
                    n_decimals += n_taken
                n_digits += n_decimals
            if n_digits - _ONE < _B19 and mantissa <= _EXACT and text[p] < _LETTERS:
                # Mantissa and power are exact doubles, so the one division rounds as the definition does.
                exact = np.float64(np.int64(mantissa)) / _POWERS[n_decimals + _ORIGIN]
                value, status = np.float32(-exact if negative else exact), _NUMBER
            else:
                p, value, status = _read_number(text, value_at)
            if status == _NUMBER and text[p] == _SPACE:
                p += _ONE
            elif status >= _OTHER or not _ends_token(text, p):
                error = TOO_LARGE if status == _INFINITE and _ends_token(text, p) else BAD_VALUE
                error_at = np.int64(value_at)
                break
            if feature <= width:
                row[np.uint64(feature - 1)] = undefined if status == _UNDEFINED else value
                n_defined += value == value
                if status == _UNSURE:
                    out_unsure[i] = True
        if error != FINE:
            break
        if in_order:
            for j in range(highest, width):
                row[j] = undefined
        largest = max(largest, highest)
        n_undefined += width - n_defined
        out_hash_at[i] = np.int64(p) if text[p] == _HASH else -1
    return error_at, error, largest, largest_at, n_undefined


@kernel
def find_comments(first, last, text, hash_at, out):
    """Start and length of the comment, and of the document id in it, of rows `[first, last)`.

    out : (n_rows, 4); the id is the token after `docid =`, or else the first token.
    """
    for i in range(first, last):
        out[i] = 0
        if hash_at[i] < 0:
            continue
        start = np.uint64(hash_at[i]) + _ONE
        while text[start] == _SPACE or text[start] == _TAB or text[start] == _RETURN:
            start += _ONE
        end = start
        while text[end] != _NEWLINE:
            end += _ONE
        while end > start:
            c = text[end - _ONE]
            if c != _SPACE and c != _TAB and c != _RETURN:
                break
            end -= _ONE
        id_start = p = start
        for letter in b"docid":
            if text[p] == letter:
                p += _ONE
        if p - start == np.uint64(5):
            p = _skip_blanks(text, p)
            if text[p] == ord("="):
                id_start = _skip_blanks(text, p + _ONE)
        id_end = id_start
        while id_end < end and text[id_end] != _SPACE and text[id_end] != _TAB:
            id_end += _ONE
        out[i, 0], out[i, 1] = np.int64(start), np.int64(end - start)
        out[i, 2], out[i, 3] = np.int64(id_start), np.int64(id_end - id_start)


@kernel
def copy_texts(first, last, text, starts, offsets, out):
    """Copy the texts of rows `[first, last)`, which begin at `starts`, to their places in `out`."""
    for i in range(first, last):
        source, target = np.uint64(starts[i]), np.uint64(offsets[i])
        for j in range(np.uint64(offsets[i + 1] - offsets[i])):
            out[target + np.uint64(j)] = text[source + np.uint64(j)]


@kernel
def _write_integer(value, out, k):
    """Append a non-negative integer; returns the new end."""
    n_digits = 1
    while n_digits < 20 and value >= _WHOLE_POWERS[n_digits]:
        n_digits += 1
    for j in range(n_digits - 1, -1, -1):
        out[k + j] = np.uint8(_ZERO + value % _TEN)
        value //= _TEN
    return k + n_digits


@kernel
def _write_bytes(text, first, last, out, k):
    for j in range(first, last):
        out[k] = text[j]
        k += 1
    return k


@kernel
def _decimal(value, n_digits):
    """(mantissa, exponent, whether it reads back as `value`) of a positive number at about so many digits."""
    exponent = np.int64(np.floor(np.log10(np.float64(value)))) + 1 - n_digits
    mantissa = np.uint64(np.rint(np.float64(value) / _POWERS[exponent - _LOWEST]))
    back, certain = _to_float32(mantissa, exponent)
    return mantissa, exponent, certain and back == value


@kernel
def _write_number(value, out, k):
    """Append the shortest text that reads back as the same float32; returns the new end."""
    if value != value:
        return _write_bytes(b"nan", 0, 3, out, k)
    if value < 0 or (value == 0 and 1 / value < 0):
        out[k] = _MINUS
        k += 1
        value = -value
    if np.isinf(value):
        return _write_bytes(b"inf", 0, 3, out, k)
    if value < 1e9 and value == np.floor(value):
        return _write_integer(np.uint64(value), out, k)
    # Nine digits tell any two float32 apart; a tenth covers a rounding error in making them.
    enough, too_few = 10, 0
    while enough - too_few > 1:
        n_digits = (enough + too_few) // 2
        if _decimal(value, n_digits)[2]:
            enough = n_digits
        else:
            too_few = n_digits
    mantissa, exponent, _ = _decimal(value, enough)
    while mantissa % _TEN == _NONE:
        mantissa //= _TEN
        exponent += 1
    n_digits = 1
    while mantissa >= _WHOLE_POWERS[n_digits]:
        n_digits += 1
    first_power = exponent + n_digits - 1
    if exponent < 0 and first_power >= -5:
        one = _WHOLE_POWERS[-exponent]
        k = _write_integer(mantissa // one, out, k)
        # A one before the fraction keeps its leading zeros; the dot then takes its place.
        end = _write_integer(mantissa % one + one, out, k)
        out[k] = _DOT
        return end
    k = _write_integer(mantissa // _WHOLE_POWERS[n_digits - 1], out, k)
    if n_digits > 1:
        one = _WHOLE_POWERS[n_digits - 1]
        end = _write_integer(mantissa % one + one, out, k)
        out[k] = _DOT
        k = end
    out[k] = ord("e")
    k += 1
    if first_power < 0:
        out[k] = _MINUS
        k += 1
    return _write_integer(np.uint64(abs(first_power)), out, k)


@kernel
def format_lines(
    first, last, rows, X, y, queries, query_text, query_ends, prefix, texts, text_ends
) -> NDArray[np.uint8]:
    """The bytes of lines `[first, last)`; line i is row rows[i], or i if `rows` is empty.

    queries : (n_docs,) row of the query's text; text j of a column is bytes `ends[j]:ends[j + 1]`.
    texts : comments, each written after `prefix`; there are none if `text_ends` is empty.
    """
    width = X.shape[1]
    size = (last - first) * (64 + prefix.size + LONGEST_QUERY_ID + width * 32)
    for i in range(first, last):
        if text_ends.size:
            r = rows[i] if rows.size else i
            size += text_ends[r + 1] - text_ends[r]
    out = np.empty(size, np.uint8)
    k = 0
    for i in range(first, last):
        r = rows[i] if rows.size else i
        k = _write_number(y[r], out, k)
        k = _write_bytes(b" qid:", 0, 5, out, k)
        k = _write_bytes(query_text, query_ends[queries[r]], query_ends[queries[r] + 1], out, k)
        for j in range(width):
            out[k] = _SPACE
            k = _write_integer(np.uint64(j + 1), out, k + 1)
            out[k] = _COLON
            k = _write_number(X[r, j], out, k + 1)
        if text_ends.size and text_ends[r + 1] > text_ends[r]:
            k = _write_bytes(b" #", 0, 2, out, k)
            k = _write_bytes(prefix, 0, prefix.size, out, k)
            k = _write_bytes(texts, text_ends[r], text_ends[r + 1], out, k)
        out[k] = _NEWLINE
        k += 1
    return out[:k]

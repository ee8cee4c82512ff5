import threading

from pomona._lazy import cached_property


class Number:
    def __init__(self):
        self.asked = 0

    @cached_property
    def value(self):
        """Seven."""
        self.asked += 1
        return [7]


def test_it_is_computed_once():
    number = Number()
    assert number.value is number.value
    assert (number.value, number.asked) == ([7], 1)
    assert Number.value.__doc__ == "Seven."
    assert Number().asked == 0


def test_of_two_threads_that_compute_it_neither_waits_and_both_get_the_same():
    class Slow:
        met = threading.Barrier(2)

        @cached_property
        def value(self):
            self.met.wait(timeout=60)
            return object()

    slow, found = Slow(), []
    others = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert found[0] is found[1] is slow.value

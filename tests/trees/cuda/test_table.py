from pomona.trees.cuda import table


def test_columns_are_counted():
    assert table.HESSIANS + 1 == table.GAIN
    assert table.NODE_GAIN + 1 == table.LEAF_WIDTH
    assert table.HESSIAN + 1 == table.ORDER_SIZE
    assert table.HESSIAN_LIMIT + 1 == table.RULES_SIZE

from boundit.graph.notation import write_statements


def test_edges_come_in_the_order_people_number_them() -> None:
    nodes = frozenset({"X1", "X2", "X10", "Y", "Z"})
    directed = {("X10", "Y"), ("X2", "Y"), ("X1", "Y")}

    assert write_statements(nodes, directed, {("X1", "X2")}, "Y") == (
        "X1 -> [Y]; X2 -> [Y]; X10 -> [Y]; X1 <-> X2; Z"
    )

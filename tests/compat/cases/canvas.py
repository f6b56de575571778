"""Canvases: what is taken and refused, revisions, and the board that is told."""

from steps import Area

AREA = Area("canvas")
PUT, GET, LIST, CLEAR = "/canvas/put", "/canvas/get", "/canvas/list", "/canvas/clear"
A = {"id": "a", "role": "box", "label": "A", "x": 0, "y": 0, "w": 10, "h": 5}
B = {"id": "b", "role": "box", "label": "B", "x": 1.5, "y": 0, "w": 10, "h": 5, "extra": [1]}
FLOW = {
    "schema": "flow.v1",
    "nodes": [A, B],
    "edges": [{"from": "a", "to": "b", "label": "go"}],
    "zoom": 2,
}
SHAPE = {"x": 0, "y": 1, "w": 2, "h": 3, "role": "button", "label": "OK"}
DESIGN = {"shapes": [SHAPE]}


def flow(**more: object) -> dict:
    """A put of the flow with members of its own."""
    return {"locus": "cv", "kind": "flow", "state": {**FLOW, **more}}


def of(locus: str, kind: str, state: object) -> dict:
    """A put of any document."""
    return {"locus": locus, "kind": kind, "state": state}


AREA.post("get-none", GET, {"locus": "cv"})
AREA.post("get-none-design", GET, {"locus": "cv", "kind": "design"})
AREA.post("get-kind-unknown", GET, {"locus": "cv", "kind": "chart"})
AREA.post("get-dotted", GET, {"locus": "c.v"})
AREA.post("get-without-locus", GET, {})
AREA.post("put", PUT, {**flow(), "by": "t", "note": "first"})
AREA.post("put-same", PUT, {**flow(), "by": "u", "note": "again"})
AREA.post("get-after-same", GET, {"locus": "cv"})
AREA.post("put-same-other-rev", PUT, flow(rev=99))
AREA.post("put-higher-rev", PUT, flow(rev=99, zoom=3))
AREA.post("put-lower-rev", PUT, flow(rev=5, zoom=4))
AREA.post("put-rev-text", PUT, of("odd", "flow", {**FLOW, "rev": "x"}))
AREA.post("put-rev-part", PUT, of("odd", "flow", {**FLOW, "rev": 5.5, "zoom": 3}))
AREA.post("put-rev-negative", PUT, of("odd", "flow", {**FLOW, "rev": -5, "zoom": 4}))
AREA.post("put-notify", PUT, {**flow(zoom=5), "by": "u", "note": "look", "notify": True})
AREA.post("put-notify-same", PUT, {**flow(zoom=5), "notify": True})
AREA.post("put-as-text", PUT, of("cv", "flow", '{"schema": "flow.v1", "nodes": []}'))
AREA.post("get", GET, {"locus": "cv"})
AREA.post("board-rows", "/todo/list", {"locus": "cv"})
AREA.post("put-design", PUT, of("cv", "design", DESIGN))
AREA.post("put-design-keys-turned", PUT, of("cv", "design", {"shapes": [dict(reversed(SHAPE.items()))]}))
AREA.post("put-design-floats", PUT, of("cv", "design", {"shapes": [{**SHAPE, "x": 0.0}]}))
AREA.post("put-design-rev", PUT, of("cv", "design", {**DESIGN, "rev": 50}))
AREA.post("put-design-schema", PUT, of("cv", "design", {**DESIGN, "schema": "wireframe.v1"}))
AREA.post("list", LIST, {"locus": "cv"})
AREA.post("list-none", LIST, {"locus": "cv-none"})
AREA.post("put-underscore", PUT, of("CV_x", "Flow", FLOW))
AREA.post("put-without-edges", PUT, of("cv-bare", "flow", {"schema": "flow.v1", "nodes": [A]}))
AREA.post("put-600-nodes", PUT, of("cv-many", "flow", {**FLOW, "edges": [], "nodes": [{**A, "id": f"n{n}"} for n in range(600)]}))
AREA.post("put-300-shapes", PUT, of("cv-many", "design", {"shapes": [SHAPE] * 300}))
for name, state in {
    "schema": {**FLOW, "schema": "flow.v2"},
    "no-schema": {"nodes": []},
    "no-nodes": {"schema": "flow.v1"},
    "nodes-null": {**FLOW, "nodes": None},
    "node-number": {**FLOW, "nodes": [5]},
    "node-without-role": {**FLOW, "nodes": [{"id": "a"}]},
    "node-id-number": {**FLOW, "nodes": [{**A, "id": 5}], "edges": []},
    "node-x-text": {**FLOW, "nodes": [{**A, "x": "5"}], "edges": []},
    "node-x-true": {**FLOW, "nodes": [{**A, "x": True}], "edges": []},
    "node-twice": {**FLOW, "nodes": [A, A], "edges": []},
    "nodes-601": {**FLOW, "nodes": [{**A, "id": f"n{n}"} for n in range(601)], "edges": []},
    "edge-dangling": {**FLOW, "edges": [{"from": "a", "to": "zz"}]},
    "edge-half": {**FLOW, "edges": [{"from": "a"}]},
    "edge-label": {**FLOW, "edges": [{"from": "a", "to": "b", "label": 5}]},
    "edges-text": {**FLOW, "edges": "x"},
    "list": [1],
    "words": "words",
}.items():
    AREA.post(f"refused-{name}", PUT, of("cv-bad", "flow", state))
for name, state in {
    "no-shapes": {},
    "shapes-null": {"shapes": None},
    "schema": {**DESIGN, "schema": "flow.v1"},
    "schema-null": {**DESIGN, "schema": None},
    "shape-without-h": {"shapes": [{"x": 1, "y": 1, "w": 1}]},
    "shape-role": {"shapes": [{**SHAPE, "role": 5}]},
    "shapes-301": {"shapes": [SHAPE] * 301},
}.items():
    AREA.post(f"refused-design-{name}", PUT, of("cv-bad", "design", state))
AREA.post("refused-state-null", PUT, of("cv-bad", "flow", None))
AREA.post("refused-without-state", PUT, {"locus": "cv-bad", "kind": "flow"})
AREA.post("refused-kind", PUT, of("cv-bad", "chart", FLOW))
AREA.post("refused-large", PUT, of("cv-bad", "flow", {**FLOW, "pad": "x" * 524_288}))
AREA.post("get-refused", GET, {"locus": "cv-bad"})
AREA.post("put-long-by-and-note", PUT, {**of("odd-long", "flow", FLOW), "by": "b" * 50, "note": "n" * 600})
AREA.post("clear", CLEAR, {"locus": "cv", "kind": "flow"})
AREA.post("clear-again", CLEAR, {"locus": "cv", "kind": "flow"})
AREA.post("get-cleared", GET, {"locus": "cv"})
AREA.post("clear-kind-unknown", CLEAR, {"locus": "cv", "kind": "chart"})
AREA.post("clear-without-kind", CLEAR, {"locus": "cv"})
AREA.post("put-cleared", PUT, of("cv-x", "flow", {**FLOW, "zoom": 9}))
AREA.post("clear-later", CLEAR, {"locus": "cv-x", "kind": "flow"})
AREA.post("put-after-clear", PUT, of("cv-x", "flow", FLOW))

"""How tests look into a chart."""

import json


def spec_of(chart):
    """The chart as Altair checks it against Vega-Lite's schema; its data by layer."""
    spec = chart.to_dict()
    datasets = {name: json.loads(text) for name, text in spec["datasets"].items()}
    inner = spec.get("spec", spec)
    layers = inner.get("layer", [inner])
    default = spec.get("data", inner.get("data"))
    return spec, [datasets[layer.get("data", default)["name"]] for layer in layers]


def panels_of(rows, by):
    """The panels in their order."""
    return [name for _, name in sorted({(row["place"], row[by]) for row in rows})]

"""A ranking service in forty lines: a model file behind FastAPI.

    pip install pomona fastapi uvicorn
    POMONA_MODEL=m.pomona uvicorn app:app --app-dir examples/serve
    curl localhost:8000/rank -H 'content-type: application/json' \
         -d '{"documents": [{"bm25": 1.5, "clicks": 3}, {"bm25": 0.2, "clicks": null}]}'

Any model that `pm.load_model` reads will do, LightGBM's and XGBoost's too. The first score loads the compiled
kernels, so it is made before the first request.
"""

import os
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel

import pomona as pm


class Candidates(BaseModel):
    """The documents of one query: their features by name, null where undefined."""

    documents: list[dict[str, float | None]]


@asynccontextmanager
async def lifespan(app: FastAPI):
    """Load the model, and score once."""
    app.state.ranker = ranker = pm.load_model(os.environ["POMONA_MODEL"])
    ranker.predict(dict.fromkeys(ranker.feature_names_, 0.0))
    yield


app = FastAPI(title="Ranking", lifespan=lifespan)


@app.post("/rank")
async def rank(candidates: Candidates, request: Request):
    """The score of every document, and their places from best to worst."""
    try:
        scores = request.app.state.ranker.predict(candidates.documents)
    except pm.PomonaError as error:
        raise HTTPException(422, str(error)) from None
    return {"scores": scores.tolist(), "ranking": (-scores).argsort(kind="stable").tolist()}

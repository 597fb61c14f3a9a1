"""What the programs of this folder share: the models to call, the words to expect, and how a result is told.

Each call is told in one line of JSON on standard output, which test/clients/run-client.ts reads.
"""

import asyncio
import inspect
import json
import os
import traceback

URL = os.environ["GATEWAY_URL"]
KEY = os.environ["GATEWAY_API_KEY"]
MODELS = os.environ["GATEWAY_MODELS"].split(",")
TEXT = os.environ["EXPECTED_TEXT"]

QUESTION = "What is the weather in Zürich?"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
ARGUMENTS = {"city": "Zürich", "days": 2}


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"expected {wanted!r}, got {got!r}")


def tell(call, model, failure=None):
    print(json.dumps({"call": call, "model": model, "failure": failure}), flush=True)


def run(calls):
    """Runs each call, a function that takes a model, with every model."""
    for name, call in calls.items():
        for model in MODELS:
            try:
                result = call(model)
                if inspect.isawaitable(result):
                    asyncio.run(await_it(result))
                tell(name, model)
            except BaseException as error:  # A client may raise whatever it likes.
                where = traceback.extract_tb(error.__traceback__)[-1]
                reason = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
                tell(name, model, reason[:600])


async def await_it(awaitable):
    return await awaitable

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from report import KEY, QUESTION, TEXT, URL, equal, run

set_tracing_disabled(True)
called = []


@function_tool
def get_weather(city: str, days: int) -> str:
    """The weather."""
    called.append((city, days))
    return "Sunny."


def make(kind, model, tools=()):
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
    return Agent(name="weather", model=kind(model=model, openai_client=client), tools=list(tools))


def whole(kind):
    async def call(model):
        equal((await Runner.run(make(kind, model), QUESTION)).final_output, TEXT)

    return call


def streamed(kind):
    async def call(model):
        result = Runner.run_streamed(make(kind, model), QUESTION)
        async for _ in result.stream_events():
            pass
        equal(result.final_output, TEXT)

    return call


def tools(kind):
    async def call(model):
        called.clear()
        equal((await Runner.run(make(kind, model, [get_weather]), QUESTION)).final_output, TEXT)
        equal(called, [("Zürich", 2)])

    return call


MODELS = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}
KINDS = {"whole": whole, "streamed": streamed, "tools": tools}
run({f"{name}, {k}": KINDS[k](kind) for name, kind in MODELS.items() for k in KINDS})

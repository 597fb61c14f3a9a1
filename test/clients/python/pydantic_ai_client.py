from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from report import KEY, QUESTION, TEXT, URL, equal, run

OPENAI = {"base_url": f"{URL}/v1", "api_key": KEY}
ANTHROPIC = {"base_url": f"{URL}/v1/anthropic", "api_key": KEY}

MAKE = {
    "chat": lambda model: OpenAIChatModel(model, provider=OpenAIProvider(**OPENAI)),
    "responses": lambda model: OpenAIResponsesModel(model, provider=OpenAIProvider(**OPENAI)),
    "messages": lambda model: AnthropicModel(model, provider=AnthropicProvider(**ANTHROPIC)),
}


def whole(make):
    return lambda model: equal(Agent(make(model)).run_sync(QUESTION).output, TEXT)


def streamed(make):
    async def call(model):
        async with Agent(make(model)).run_stream(QUESTION) as result:
            equal(await result.get_output(), TEXT)

    return call


def tools(make):
    def call(model):
        agent, called = Agent(make(model)), []

        @agent.tool_plain
        def get_weather(city: str, days: int) -> str:
            called.append((city, days))
            return "Sunny."

        equal(agent.run_sync(QUESTION).output, TEXT)
        equal(called, [("Zürich", 2)])

    return call


KINDS = {"whole": whole, "streamed": streamed, "tools": tools}
run({f"{name}, {kind}": KINDS[kind](make) for name, make in MAKE.items() for kind in KINDS})

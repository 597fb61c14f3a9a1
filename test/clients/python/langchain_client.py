from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from report import ARGUMENTS, KEY, QUESTION, TEXT, URL, equal, run


@tool
def get_weather(city: str, days: int) -> str:
    """The weather."""
    return "Sunny."


def openai(model, **more):
    return ChatOpenAI(model=model, base_url=f"{URL}/v1", api_key=KEY, max_retries=0, **more)


def anthropic(model):
    return ChatAnthropic(model_name=model, base_url=f"{URL}/v1/anthropic", api_key=KEY, max_retries=0, max_tokens=500)


def whole(make):
    return lambda model: equal(make(model).invoke(QUESTION).text, TEXT)


def streamed(make):
    return lambda model: equal("".join(chunk.text for chunk in make(model).stream(QUESTION)), TEXT)


def tools(make):
    def call(model):
        bound = make(model).bind_tools([get_weather])
        first = bound.invoke(QUESTION)
        equal(first.tool_calls[0]["args"], ARGUMENTS)
        result = ToolMessage(tool_call_id=first.tool_calls[0]["id"], content="Sunny.")
        equal(bound.invoke([HumanMessage(QUESTION), first, result]).text, TEXT)

    return call


def responses(model):
    return openai(model, use_responses_api=True)


KINDS = {"whole": whole, "streamed": streamed, "tools": tools}
DIALECTS = {"chat": openai, "responses": responses, "messages": anthropic}
run({f"{name}, {kind}": KINDS[kind](make) for name, make in DIALECTS.items() for kind in KINDS})

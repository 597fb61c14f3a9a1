from anthropic import Anthropic
from report import ARGUMENTS, KEY, QUESTION, SCHEMA, TEXT, URL, equal, run

client = Anthropic(base_url=f"{URL}/v1/anthropic", api_key=KEY, max_retries=0)
ASKED = [{"role": "user", "content": QUESTION}]
TOOLS = [{"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}]


def messages(model):
    answer = client.messages.create(model=model, max_tokens=500, messages=ASKED)
    equal(answer.content[0].text, TEXT)


def messages_streamed(model):
    with client.messages.stream(model=model, max_tokens=500, messages=ASKED) as stream:
        equal("".join(stream.text_stream), TEXT)


def messages_tools(model):
    first = client.messages.create(model=model, max_tokens=500, messages=ASKED, tools=TOOLS)
    call = next(block for block in first.content if block.type == "tool_use")
    equal(call.input, ARGUMENTS)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny."}
    turns = [*ASKED, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    last = client.messages.create(model=model, max_tokens=500, messages=turns, tools=TOOLS)
    equal(last.content[0].text, TEXT)


def count_tokens(model):
    assert client.messages.count_tokens(model=model, messages=ASKED).input_tokens > 0


def models(model):
    assert model in [one.id for one in client.models.list(limit=1000)]
    equal(client.models.retrieve(model).id, model)


run(
    {
        "messages": messages,
        "messages, streamed": messages_streamed,
        "messages, tools": messages_tools,
        "count tokens": count_tokens,
        "models": models,
    }
)

import json

from openai import OpenAI
from report import ARGUMENTS, KEY, QUESTION, SCHEMA, TEXT, URL, equal, run

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
ASKED = [{"role": "user", "content": QUESTION}]
FUNCTION = {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA}


def chat(model):
    answer = client.chat.completions.create(model=model, messages=ASKED)
    equal(answer.choices[0].message.content, TEXT)


def chat_streamed(model):
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(model=model, messages=ASKED, stream=True, stream_options=options))
    equal("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), TEXT)
    assert chunks[-1].usage.total_tokens > 0


def chat_tools(model):
    tools = [{"type": "function", "function": FUNCTION}]
    first = client.chat.completions.create(model=model, messages=ASKED, tools=tools)
    message = first.choices[0].message
    call = message.tool_calls[0]
    equal(json.loads(call.function.arguments), ARGUMENTS)
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}
    last = client.chat.completions.create(model=model, messages=[*ASKED, message, result], tools=tools)
    equal(last.choices[0].message.content, TEXT)


def responses(model):
    equal(client.responses.create(model=model, input=QUESTION).output_text, TEXT)


def responses_streamed(model):
    with client.responses.stream(model=model, input=QUESTION) as stream:
        for _ in stream:
            pass
        equal(stream.get_final_response().output_text, TEXT)


def responses_tools(model):
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    first = client.responses.create(model=model, input=QUESTION, tools=tools)
    call = next(item for item in first.output if item.type == "function_call")
    equal(json.loads(call.arguments), ARGUMENTS)
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny."}
    last = client.responses.create(model=model, input=[result], tools=tools, previous_response_id=first.id)
    equal(last.output_text, TEXT)


def models(model):
    assert model in [one.id for one in client.models.list()]
    equal(client.models.retrieve(model).id, model)


run(
    {
        "chat": chat,
        "chat, streamed": chat_streamed,
        "chat, tools": chat_tools,
        "responses": responses,
        "responses, streamed": responses_streamed,
        "responses, tools": responses_tools,
        "models": models,
    }
)

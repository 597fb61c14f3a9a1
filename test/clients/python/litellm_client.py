import json

import litellm
from report import ARGUMENTS, KEY, QUESTION, SCHEMA, TEXT, URL, equal, run

litellm.suppress_debug_info = True
ASKED = [{"role": "user", "content": QUESTION}]
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]


def complete(model, **more):
    target = {"model": f"openai/{model}", "api_base": f"{URL}/v1", "api_key": KEY, "num_retries": 0}
    return litellm.completion(**{"messages": ASKED, **target, **more})


def chat(model):
    equal(complete(model).choices[0].message.content, TEXT)


def chat_streamed(model):
    chunks = complete(model, stream=True)
    equal("".join(chunk.choices[0].delta.content or "" for chunk in chunks), TEXT)


def chat_tools(model):
    message = complete(model, tools=TOOLS).choices[0].message
    call = message.tool_calls[0]
    equal(json.loads(call.function.arguments), ARGUMENTS)
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny."}
    equal(complete(model, messages=[*ASKED, message, result], tools=TOOLS).choices[0].message.content, TEXT)


def messages(model):
    target = {"api_base": f"{URL}/v1/anthropic", "api_key": KEY}
    equal(litellm.completion(model=f"anthropic/{model}", messages=ASKED, **target).choices[0].message.content, TEXT)


run({"chat": chat, "chat, streamed": chat_streamed, "chat, tools": chat_tools, "messages": messages})

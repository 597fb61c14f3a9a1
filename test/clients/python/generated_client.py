"""Calls everything by the client that openapi-python-client has generated, as the package `gateway_client`."""

import importlib
import json

from report import KEY, QUESTION, TEXT, URL, equal, run

client_module = importlib.import_module("gateway_client.client")
models = importlib.import_module("gateway_client.models")


def api(tag, name):
    return importlib.import_module(f"gateway_client.api.{tag}.{name}")


client = client_module.AuthenticatedClient(base_url=URL, token=KEY)
chat_api = api("inference", "create_chat_completion")


def request(model, **more):
    messages = [models.ChatMessage(role=models.ChatMessageRole.USER, content=QUESTION)]
    return models.ChatCompletionRequest(model=model, messages=messages, **more)


def chat(model):
    answer = chat_api.sync(client=client, body=request(model))
    equal(answer.choices[0].message.content, TEXT)


def chat_streamed(model):
    arguments = chat_api._get_kwargs(body=request(model, stream=True))
    text = ""
    with client.get_httpx_client().stream(**arguments) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                chunk = models.ChatCompletionChunk.from_dict(json.loads(line[len("data: ") :]))
                text += "".join(choice.delta.content or "" for choice in chunk.choices)
    equal(text, TEXT)


def speech(_model):
    body = models.SpeechRequest(model="sandbox/speech", input_="Hello", voice="alloy")
    answer = api("inference", "create_speech").sync(client=client, body=body)
    assert len(answer.payload.read()) > 100


def list_models(model):
    answer = api("catalogue", "list_models").sync(client=client)
    assert model in [one.id for one in answer.data]


def jobs(_model):
    made = api("jobs", "create_job").sync(
        client=client, body=models.JobRequest(model="sandbox/image", prompt="A lighthouse")
    )
    equal(api("jobs", "get_job").sync(made.id, client=client).id, made.id)


run({"chat": chat, "chat, streamed": chat_streamed, "speech": speech, "models": list_models, "jobs": jobs})

import instructor
from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel
from report import ARGUMENTS, KEY, QUESTION, URL, equal, run


class Weather(BaseModel):
    city: str
    days: int


ASKED = [{"role": "user", "content": QUESTION}]


def chat(model):
    client = instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=KEY))
    answer = client.chat.completions.create(model=model, messages=ASKED, response_model=Weather, max_retries=1)
    equal(answer.model_dump(), ARGUMENTS)


def messages(model):
    client = instructor.from_anthropic(Anthropic(base_url=f"{URL}/v1/anthropic", api_key=KEY))
    options = {"max_tokens": 500, "max_retries": 1}
    answer = client.messages.create(model=model, messages=ASKED, response_model=Weather, **options)
    equal(answer.model_dump(), ARGUMENTS)


run({"chat, a structure": chat, "messages, a structure": messages})

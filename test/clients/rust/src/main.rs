//! Calls the gateway by async-openai. Each call is told in one line of JSON on standard output,
//! which test/clients/run-client.ts reads.

use async_openai::{
    config::OpenAIConfig,
    types::{
        ChatCompletionRequestUserMessageArgs, CreateChatCompletionRequest,
        CreateChatCompletionRequestArgs,
    },
    Client,
};
use futures::StreamExt;
use std::{env, error::Error};

type Outcome = Result<String, Box<dyn Error>>;

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn request(model: &str) -> Result<CreateChatCompletionRequest, Box<dyn Error>> {
    let asked = ChatCompletionRequestUserMessageArgs::default()
        .content("What is the weather?")
        .build()?;
    Ok(CreateChatCompletionRequestArgs::default()
        .model(model)
        .messages(vec![asked.into()])
        .build()?)
}

async fn chat(client: &Client<OpenAIConfig>, model: &str) -> Outcome {
    let answer = client.chat().create(request(model)?).await?;
    Ok(answer.choices[0].message.content.clone().unwrap_or_default())
}

async fn chat_streamed(client: &Client<OpenAIConfig>, model: &str) -> Outcome {
    let mut stream = client.chat().create_stream(request(model)?).await?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            text += &choice.delta.content.unwrap_or_default();
        }
    }
    Ok(text)
}

fn tell(call: &str, model: &str, outcome: Outcome) {
    let wanted = variable("EXPECTED_TEXT");
    let failure = match outcome {
        Ok(text) if text == wanted => None,
        Ok(text) => Some(format!("expected {wanted:?}, got {text:?}")),
        Err(error) => Some(error.to_string()),
    };
    println!("{}", serde_json::json!({ "call": call, "model": model, "failure": failure }));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let config = OpenAIConfig::new()
        .with_api_base(variable("GATEWAY_URL") + "/v1")
        .with_api_key(variable("GATEWAY_API_KEY"));
    let client = Client::with_config(config);
    for model in variable("GATEWAY_MODELS").split(',') {
        tell("chat", model, chat(&client, model).await);
        tell("chat, streamed", model, chat_streamed(&client, model).await);
    }
}

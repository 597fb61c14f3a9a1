// Calls the gateway by the vendors' own Go clients. Each call is told in one line of JSON on
// standard output, which test/clients/run-client.ts reads.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

const question = "What is the weather in Zürich?"

var (
	ctx  = context.Background()
	url  = os.Getenv("GATEWAY_URL")
	key  = os.Getenv("GATEWAY_API_KEY")
	text = os.Getenv("EXPECTED_TEXT")

	forOpenAI = openai.NewClient(
		option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
	forAnthropic = anthropic.NewClient(anthropicoption.WithBaseURL(url+"/v1/anthropic"),
		anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))

	parameters = map[string]any{
		"city": map[string]any{"type": "string"}, "days": map[string]any{"type": "integer"},
	}
)

func main() {
	calls := []struct {
		name string
		run  func(model string) error
	}{
		{"openai-go: chat", chat},
		{"openai-go: chat, streamed", chatStreamed},
		{"openai-go: chat, tools", chatTools},
		{"openai-go: responses", createResponse},
		{"openai-go: models", models},
		{"anthropic-sdk-go: messages", messages},
		{"anthropic-sdk-go: messages, streamed", messagesStreamed},
		{"anthropic-sdk-go: messages, tools", messagesTools},
	}
	for _, call := range calls {
		for _, model := range strings.Split(os.Getenv("GATEWAY_MODELS"), ",") {
			result := map[string]any{"call": call.name, "model": model, "failure": nil}
			if err := call.run(model); err != nil {
				result["failure"] = err.Error()
			}
			line, _ := json.Marshal(result)
			fmt.Println(string(line))
		}
	}
}

func equal(got, wanted string) error {
	if got == wanted {
		return nil
	}
	return fmt.Errorf("expected %q, got %q", wanted, got)
}

func hasArguments(raw string) error {
	var got struct {
		City string
		Days int
	}
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		return err
	}
	return equal(fmt.Sprint(got.City, " ", got.Days), "Zürich 2")
}

func asked() []openai.ChatCompletionMessageParamUnion {
	return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}
}

func chat(model string) error {
	answer, err := forOpenAI.Chat.Completions.New(ctx,
		openai.ChatCompletionNewParams{Model: model, Messages: asked()})
	if err != nil {
		return err
	}
	return equal(answer.Choices[0].Message.Content, text)
}

func chatStreamed(model string) error {
	stream := forOpenAI.Chat.Completions.NewStreaming(ctx,
		openai.ChatCompletionNewParams{Model: model, Messages: asked()})
	whole := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		whole.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return equal(whole.Choices[0].Message.Content, text)
}

func chatTools(model string) error {
	body := openai.ChatCompletionNewParams{
		Model:    model,
		Messages: asked(),
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
				Name:       "get_weather",
				Parameters: openai.FunctionParameters{"type": "object", "properties": parameters},
			}),
		},
	}
	first, err := forOpenAI.Chat.Completions.New(ctx, body)
	if err != nil {
		return err
	}
	call := first.Choices[0].Message.ToolCalls[0]
	if err := hasArguments(call.Function.Arguments); err != nil {
		return err
	}
	body.Messages = append(body.Messages, first.Choices[0].Message.ToParam(),
		openai.ToolMessage("Sunny.", call.ID))
	last, err := forOpenAI.Chat.Completions.New(ctx, body)
	if err != nil {
		return err
	}
	return equal(last.Choices[0].Message.Content, text)
}

func createResponse(model string) error {
	answer, err := forOpenAI.Responses.New(ctx, responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)},
	})
	if err != nil {
		return err
	}
	return equal(answer.OutputText(), text)
}

func models(model string) error {
	found, err := forOpenAI.Models.Get(ctx, model)
	if err != nil {
		return err
	}
	return equal(found.ID, model)
}

func messageBody(model string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(model),
		MaxTokens: 500,
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock(question)),
		},
	}
}

func messages(model string) error {
	answer, err := forAnthropic.Messages.New(ctx, messageBody(model))
	if err != nil {
		return err
	}
	return equal(answer.Content[0].Text, text)
}

func messagesStreamed(model string) error {
	stream := forAnthropic.Messages.NewStreaming(ctx, messageBody(model))
	whole := anthropic.Message{}
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return err
	}
	return equal(whole.Content[0].Text, text)
}

func messagesTools(model string) error {
	body := messageBody(model)
	body.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name:        "get_weather",
		InputSchema: anthropic.ToolInputSchemaParam{Properties: parameters},
	}}}
	first, err := forAnthropic.Messages.New(ctx, body)
	if err != nil {
		return err
	}
	for _, block := range first.Content {
		if block.Type != "tool_use" {
			continue
		}
		if err := hasArguments(string(block.Input)); err != nil {
			return err
		}
		body.Messages = append(body.Messages, first.ToParam(),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(block.ID, "Sunny.", false)))
		last, err := forAnthropic.Messages.New(ctx, body)
		if err != nil {
			return err
		}
		return equal(last.Content[0].Text, text)
	}
	return fmt.Errorf("the model called no tool")
}

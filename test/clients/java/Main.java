import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.responses.ResponseCreateParams;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Calls the gateway by the vendors' own Java clients. Each call is told in one line of JSON on
 * standard output, which test/clients/run-client.ts reads.
 */
public final class Main {
    private static final String QUESTION = "What is the weather?";
    private static final String URL = System.getenv("GATEWAY_URL");
    private static final String KEY = System.getenv("GATEWAY_API_KEY");
    private static final String TEXT = System.getenv("EXPECTED_TEXT");

    private interface Call {
        String answer(String model);
    }

    public static void main(String[] arguments) {
        OpenAIClient openai =
                OpenAIOkHttpClient.builder().baseUrl(URL + "/v1").apiKey(KEY).maxRetries(0).build();
        AnthropicClient anthropic = AnthropicOkHttpClient.builder()
                .baseUrl(URL + "/v1/anthropic").apiKey(KEY).maxRetries(0).build();

        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("openai-java: chat", model -> openai.chat().completions().create(chat(model))
                .choices().get(0).message().content().orElse(""));
        calls.put("openai-java: chat, streamed", model -> {
            try (var stream = openai.chat().completions().createStreaming(chat(model))) {
                return stream.stream().flatMap(chunk -> chunk.choices().stream())
                        .map(choice -> choice.delta().content().orElse("")).collect(Collectors.joining());
            }
        });
        calls.put("openai-java: responses", model -> openai.responses()
                .create(ResponseCreateParams.builder().model(model).input(QUESTION).build())
                .output().stream().flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .flatMap(part -> part.outputText().stream())
                .map(part -> part.text()).collect(Collectors.joining()));
        calls.put("anthropic-java: messages", model -> anthropic.messages().create(message(model))
                .content().get(0).asText().text());
        calls.put("anthropic-java: messages, streamed", model -> {
            try (var stream = anthropic.messages().createStreaming(message(model))) {
                return stream.stream().flatMap(event -> event.contentBlockDelta().stream())
                        .flatMap(event -> event.delta().text().stream())
                        .map(delta -> delta.text()).collect(Collectors.joining());
            }
        });

        for (Map.Entry<String, Call> call : calls.entrySet()) {
            for (String model : System.getenv("GATEWAY_MODELS").split(",")) {
                tell(call.getKey(), model, failureOf(call.getValue(), model));
            }
        }
        // The clients keep threads, which would keep the program.
        System.exit(0);
    }

    private static ChatCompletionCreateParams chat(String model) {
        return ChatCompletionCreateParams.builder().model(model).addUserMessage(QUESTION).build();
    }

    private static MessageCreateParams message(String model) {
        return MessageCreateParams.builder()
                .model(model).maxTokens(500).addUserMessage(QUESTION).build();
    }

    private static String failureOf(Call call, String model) {
        try {
            String got = call.answer(model);
            return got.equals(TEXT) ? null : "expected " + TEXT + ", got " + got;
        } catch (RuntimeException error) {
            return String.valueOf(error);
        }
    }

    private static void tell(String call, String model, String failure) {
        System.out.println("{\"call\":" + quote(call) + ",\"model\":" + quote(model)
                + ",\"failure\":" + (failure == null ? "null" : quote(failure)) + "}");
    }

    private static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\s+", " ") + '"';
    }
}

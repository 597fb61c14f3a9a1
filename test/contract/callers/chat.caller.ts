import OpenAI from 'openai';
import type { BootedGateway } from '../../support/boot-gateway.js';
import { QUESTION, RESULTS, SYSTEM, TOOLS } from '../contract-conversation.js';
import {
  HeaderRecorder,
  watchStream,
  type CallerAnswer,
  type DialectCaller,
} from './dialect-caller.js';

type Params = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;

const OPENING: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: QUESTION },
];

const HELLO: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

/** Calls chat completions with the official `openai` package. */
export function chatCaller(gateway: Pick<BootedGateway, 'url' | 'apiKey'>): DialectCaller {
  const recorder = new HeaderRecorder();
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: gateway.apiKey,
    maxRetries: 0,
    fetch: recorder.fetch,
  });
  const tools = TOOLS.map((definition): OpenAI.ChatCompletionTool => ({
    type: 'function',
    function: definition,
  }));

  async function send(params: Params, stream: boolean): Promise<CallerAnswer> {
    const stream_options = { include_usage: true };
    const raw = stream
      ? await client.chat.completions.stream({ ...params, stream_options }).finalChatCompletion()
      : await client.chat.completions.create(params);
    const { message, finish_reason: end } = raw.choices[0]!;
    return {
      text: message.content ?? '',
      toolCalls: (message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function'
          ? [
              {
                id: call.id,
                name: call.function.name,
                arguments: JSON.parse(call.function.arguments) as unknown,
              },
            ]
          : [],
      ),
      end,
      usage: {
        input: raw.usage?.prompt_tokens ?? NaN,
        output: raw.usage?.completion_tokens ?? NaN,
        cacheRead: raw.usage?.prompt_tokens_details?.cached_tokens ?? 0,
      },
      model: raw.model,
      headers: recorder.headers,
      raw: message,
    };
  }

  return {
    name: 'chat',
    ends: {
      stop: 'stop',
      length: 'length',
      tool_calls: 'tool_calls',
      content_filter: 'content_filter',
    },
    open: (model, stream) => send({ model, messages: OPENING, tools, max_tokens: 256 }, stream),
    answerTools: (model, stream, answers) => {
      const turns = answers.flatMap(({ raw, toolCalls }) => [
        raw as OpenAI.ChatCompletionMessage,
        ...toolCalls.map(({ id }, index) => ({
          role: 'tool' as const,
          tool_call_id: id,
          content: RESULTS[index]!,
        })),
      ]);
      return send({ model, messages: [...OPENING, ...turns], tools, max_tokens: 256 }, stream);
    },
    ask: (model, stream, extra = {}) => send({ model, messages: HELLO, ...extra }, stream),
    watch: (model, extra = {}) =>
      watchStream(
        client.chat.completions.create({ model, messages: HELLO, ...extra, stream: true }),
        (chunk, watched) => (watched.text += chunk.choices[0]?.delta.content ?? ''),
      ),
    lastRequestId: recorder.lastRequestId,
  };
}

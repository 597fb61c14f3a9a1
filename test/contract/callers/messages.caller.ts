import Anthropic from '@anthropic-ai/sdk';
import type { BootedGateway } from '../../support/boot-gateway.js';
import { QUESTION, RESULTS, SYSTEM, TOOLS } from '../contract-conversation.js';
import {
  HeaderRecorder,
  watchStream,
  type CallerAnswer,
  type DialectCaller,
} from './dialect-caller.js';

const HELLO: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];

/** Calls messages with the official `@anthropic-ai/sdk` package. */
export function messagesCaller(gateway: Pick<BootedGateway, 'url' | 'apiKey'>): DialectCaller {
  const recorder = new HeaderRecorder();
  const client = new Anthropic({
    baseURL: `${gateway.url}/v1/anthropic`,
    apiKey: gateway.apiKey,
    authToken: null,
    maxRetries: 0,
    fetch: recorder.fetch,
  });
  const tools = TOOLS.map(({ name, description, parameters }): Anthropic.Tool => ({
    name,
    description: description!,
    input_schema: parameters as Anthropic.Tool.InputSchema,
  }));
  const question: Anthropic.MessageParam = { role: 'user', content: QUESTION };

  async function send(
    params: Anthropic.MessageCreateParamsNonStreaming,
    stream: boolean,
  ): Promise<CallerAnswer> {
    const raw = stream
      ? await client.messages.stream(params).finalMessage()
      : await client.messages.create(params);
    const cacheRead = raw.usage.cache_read_input_tokens ?? 0;
    return {
      text: raw.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      toolCalls: raw.content.flatMap((block) =>
        block.type === 'tool_use'
          ? [{ id: block.id, name: block.name, arguments: block.input }]
          : [],
      ),
      end: raw.stop_reason,
      usage: {
        input: raw.usage.input_tokens + cacheRead,
        output: raw.usage.output_tokens,
        cacheRead,
      },
      model: raw.model,
      headers: recorder.headers,
      raw: raw.content,
    };
  }

  return {
    name: 'messages',
    ends: {
      stop: 'end_turn',
      length: 'max_tokens',
      tool_calls: 'tool_use',
      content_filter: 'refusal',
    },
    open: (model, stream) =>
      send({ model, system: SYSTEM, messages: [question], tools, max_tokens: 256 }, stream),
    answerTools: (model, stream, answers) => {
      const turns = answers.flatMap(({ raw, toolCalls }): Anthropic.MessageParam[] => [
        { role: 'assistant', content: raw as Anthropic.ContentBlock[] },
        {
          role: 'user',
          content: toolCalls.map(({ id }, index) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: RESULTS[index]!,
          })),
        },
      ]);
      const messages = [question, ...turns];
      return send({ model, system: SYSTEM, messages, tools, max_tokens: 256 }, stream);
    },
    ask: (model, stream, extra = {}) =>
      send({ model, messages: HELLO, max_tokens: 256, ...extra }, stream),
    watch: (model, extra = {}) =>
      watchStream(
        client.messages.create({ model, messages: HELLO, max_tokens: 256, ...extra, stream: true }),
        (event, watched) => {
          if (watched.types.at(-1) !== event.type) watched.types.push(event.type);
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
            watched.text += event.delta.text;
          }
        },
      ),
    lastRequestId: recorder.lastRequestId,
  };
}

import { expect } from '@jest/globals';
import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import type { UpstreamError } from '../../src/vendors/upstream-error.js';
import {
  ChatStreamRelay,
  type ChatStreamRelayOptions,
} from '../../src/vendors/dialects/chat/chat-stream-relay.js';

export const OPTIONS: ChatStreamRelayOptions = { alias: 'openai/gpt-4o', includeUsage: false };
export const WITH_USAGE: ChatStreamRelayOptions = { ...OPTIONS, includeUsage: true };

export type Json = Record<string, unknown>;

/** The caller's and the ledger's view of a stream, however it was cut. */
export interface Relayed {
  bytes: string;
  chunks: Json[];
  characters: number;
  usages: unknown[];
  finishReason: string | undefined;
  started: (string | undefined)[];
  failure: UpstreamError | undefined;
  isDone: boolean;
}

export function relay(pieces: readonly Buffer[], options = OPTIONS): Relayed {
  const relay = new ChatStreamRelay(options);
  const events: CanonicalEvent[] = [];
  let failure: UpstreamError | undefined;
  try {
    for (const piece of pieces) {
      events.push(...relay.push(piece));
      if (relay.isDone || relay.failure) break;
    }
    events.push(...relay.end());
  } catch (error) {
    failure = error as UpstreamError;
  }
  const relayed: Relayed = {
    bytes: '',
    chunks: [],
    characters: 0,
    usages: [],
    finishReason: undefined,
    started: [],
    failure,
    isDone: relay.isDone,
  };
  const parts: Buffer[] = [];
  for (const event of events) {
    if (event.type === 'start') relayed.started.push(event.id);
    if (event.type === 'usage' && !event.isPartial) relayed.usages.push(event.usage);
    if (event.type !== 'relay') continue;
    parts.push(event.bytes);
    relayed.characters += event.outputCharacters;
    relayed.finishReason ??= event.finishReason;
    if (event.usage) relayed.usages.push(event.usage);
  }
  relayed.bytes = Buffer.concat(parts).toString();
  relayed.chunks = relayed.bytes
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      if (!/^data: [^\n\r]*$/.test(frame)) throw new Error(`no event: ${frame}`);
      return JSON.parse(frame.slice('data: '.length)) as Json;
    });
  return relayed;
}

export const relayText = (stream: string, options = OPTIONS) =>
  relay([Buffer.from(stream)], options);

/** A chunk as OpenAI serializes it. */
export function chunk(choices: unknown[], fields: Json = {}): Json {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4o-2024-08-06',
    system_fingerprint: 'fp_1',
    choices,
    ...fields,
  };
}

export const choice = (delta: object, finish_reason: string | null = null, index = 0): Json => ({
  index,
  delta,
  logprobs: null,
  finish_reason,
});
export const text = (content: string, fields: Json = {}): Json =>
  chunk([choice({ content })], fields);
export const opening = (fields: Json = {}): Json =>
  chunk([choice({ role: 'assistant', content: '' })], fields);
export const stop = (fields: Json = {}): Json => chunk([choice({}, 'stop')], fields);
export const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
export const counted = expect.objectContaining({ inputTokens: 10, outputTokens: 5 }) as unknown;
export const usageChunk = (): Json => chunk([], { usage });

export const sse = (...chunks: (Json | string)[]): string =>
  chunks
    .map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`)
    .join('');

/** The documented edits, implemented in the simplest way. */
export function edited(chunks: Json[], { alias }: ChatStreamRelayOptions): Json[] {
  return chunks
    .filter(({ choices }) => (choices as unknown[]).length > 0)
    .map(({ usage: _, ...chunk }) => ({ ...chunk, model: alias }));
}

export const NEEDLES = [
  '"model":"gpt-4o-2024-08-06"',
  ',"usage":null',
  '"usage":{"prompt_tokens":1,"completion_tokens":1}',
  '"finish_reason":null',
  '"finish_reason":"stop"',
  '"delta":{"content":"',
  '"delta":',
  '"index":0',
  '"error":{"message":"x"}',
  'data: [DONE]\n\n',
  '\n\n',
  '\r\n\r\n',
  'data: {"error":{}}\n\n',
  '\\"',
  '\\',
  '\\\\"}',
  '"}}]}',
  '$&',
  '$1$`',
  '\u0000',
  '\u2028',
  '\ud800',
  '\udc00',
  'größe 日本 🙂',
  '',
];

export const STREAMS: [string, string][] = [
  ['OpenAI', sse(opening(), text('Hel'), text('lo 日本🙂'), stop(), usageChunk(), '[DONE]')],
  [
    'OpenAI when usage is requested',
    sse(
      opening({ usage: null }),
      text('Hel', { usage: null }),
      text('lo', { usage: null }),
      stop({ usage: null }),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'Azure',
    sse(
      { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] },
      opening(),
      text('Hi'),
      stop({ usage: null }),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'a server with comments, names and ids',
    `: hello\n\nretry: 5\n\nid: 1\nevent: message\ndata: ${JSON.stringify(opening())}\n\n` +
      `: ping\ndata: ${JSON.stringify(text('Hi'))}\n: pong\n\n` +
      `data:\n\ndata: \n\n${sse(stop(), usageChunk(), '[DONE]')}: bye\n\n`,
  ],
  [
    'a server with carriage returns',
    sse(opening(), text('Hel'), text('lo 🙂'), stop(), usageChunk(), '[DONE]').replaceAll(
      '\n',
      '\r\n',
    ),
  ],
  [
    'a server with spaces after its colons and none after data',
    [opening(), text('Hel'), text('lo 日本'), stop(), { ...usageChunk() }]
      .map((item) => `data:${JSON.stringify(item, null, 1).replaceAll('\n', '')}\n\n`)
      .join('') + 'data:[DONE]\n\n',
  ],
  [
    'a server with several data lines an event',
    [opening(), text('Hi'), stop(), usageChunk()]
      .map((item) => JSON.stringify(item, null, 2).replace(/^/gm, 'data: ') + '\n\n')
      .join('') + 'data: [DONE]\n\n',
  ],
  [
    'tool calls in parallel',
    sse(
      opening(),
      chunk([
        choice({
          tool_calls: [
            { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
          ],
        }),
      ]),
      chunk([
        choice({
          tool_calls: [
            { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        }),
      ]),
      chunk([choice({ tool_calls: [{ index: 1, function: { arguments: '{"x":"日' } }] })]),
      chunk([choice({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] })]),
      chunk([choice({ tool_calls: [{ index: 1, function: { arguments: '"}' } }] })]),
      chunk([choice({}, 'tool_calls')]),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'three choices, some in one chunk',
    sse(
      chunk([0, 1, 2].map((index) => choice({ role: 'assistant', content: '' }, null, index))),
      chunk([choice({ content: 'b' }, null, 1)]),
      chunk([choice({ content: 'a' }), choice({ content: 'c' }, null, 2)]),
      chunk([choice({}, 'stop', 1), choice({ content: 'A' })]),
      chunk([choice({}, 'length', 0)]),
      chunk([choice({}, 'stop', 2)]),
      usageChunk(),
      '[DONE]',
    ),
  ],
  [
    'usage in every chunk',
    sse(...[opening(), text('Hi'), stop()].map((c) => ({ ...c, usage })), '[DONE]'),
  ],
  [
    'an end without a blank line',
    sse(opening(), text('Hi'), stop(), usageChunk()) + 'data: [DONE]',
  ],
  ['a break in the middle', sse(opening(), text('Hi')) + 'data: {"id":"chatcmpl-1","cho'],
  ['an error', sse(opening(), text('Hi'), { error: { message: 'overloaded' } }, text('!'))],
  ['a line that is no JSON', sse(opening(), text('Hi'), 'oops', text('!'))],
  [
    'texts like its own syntax',
    sse(opening(), ...NEEDLES.map((it) => text(it)), stop(), usageChunk(), '[DONE]'),
  ],
];

import { expect } from '@jest/globals';
import { assembleMessage, parseMessageEvents, type MessageEvent } from './message-events.js';
import type { CanonicalEvent, SettledEvent } from '../../src/canonical/canonical-event.js';
import { collect } from '../../src/canonical/collect.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import {
  MessagesStreamRenderer,
  renderMessage,
} from '../../src/features/messages/messages.render.js';
import type { BillableRoute } from '../../src/canonical/billable-route.js';

export const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const route = { model: 'a/b', provider: 'a' } as BillableRoute;
export const opening: CanonicalEvent = { type: 'route', route, droppedParams: [] };
export const settled: SettledEvent = {
  type: 'settled',
  cost: 7,
  usage: {
    ...NO_USAGE,
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 4,
    cacheWriteTokens: 3,
    cacheWriteLongTokens: 1,
    reasoningTokens: 2,
  },
  usageSource: 'upstream',
};
export const usage = {
  input_tokens: 3,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 3,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
  output_tokens: 5,
  output_tokens_details: { thinking_tokens: 2 },
};
export const relay = (fields: object = {}): CanonicalEvent => ({
  type: 'relay',
  dialect: 'messages',
  bytes: Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'),
  hasContent: true,
  outputCharacters: 1,
  ...fields,
});

export const text = (content: string): CanonicalEvent => ({
  type: 'text',
  choice: 0,
  text: content,
});
export const think = (content: string, signature?: string): CanonicalEvent => ({
  type: 'reasoning',
  choice: 0,
  text: content,
  ...(signature !== undefined && { signature }),
});
export const call = (index: number, signature?: string): CanonicalEvent => ({
  type: 'tool_call',
  choice: 0,
  index,
  id: `call_${index}`,
  name: 'f',
  ...(signature !== undefined && { signature }),
});
export const args = (index: number, piece: string): CanonicalEvent => ({
  type: 'tool_arguments',
  choice: 0,
  index,
  text: piece,
});
export const finish = (reason = 'stop', stopSequence?: string): CanonicalEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  ...(stopSequence !== undefined && { stopSequence }),
});
export const toolUse = (index: number, input: object): object => ({
  type: 'tool_use',
  id: `call_${index}`,
  name: 'f',
  input,
});

export const newRenderer = (): MessagesStreamRenderer =>
  new MessagesStreamRenderer({ requestId, promptCharacters: 9 });

export function streamOf(events: CanonicalEvent[]): MessageEvent[] {
  const renderer = newRenderer();
  const pieces = [opening, ...events, settled].map((event) => renderer.render(event) ?? '');
  return parseMessageEvents(pieces.join('') + renderer.end());
}

/** Returns the bytes of the whole answer. */
export async function bytesOf(events: CanonicalEvent[]): Promise<string> {
  async function* all(): AsyncGenerator<CanonicalEvent> {
    yield* [opening, ...events, settled];
  }
  return renderMessage(await collect(all()), requestId).toString();
}

export const wholeOf = async (events: CanonicalEvent[]): Promise<Record<string, unknown>> =>
  JSON.parse(await bytesOf(events)) as Record<string, unknown>;

/** Returns an answer after checking that its two forms agree. */
export async function bothOf(events: CanonicalEvent[]): Promise<Record<string, unknown>> {
  const whole = await wholeOf(events);
  expect(assembleMessage(streamOf(events))).toEqual(whole);
  return whole;
}
export const contentOf = async (events: CanonicalEvent[]): Promise<unknown> =>
  (await bothOf([...events, finish()])).content;

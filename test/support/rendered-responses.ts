import { expect } from '@jest/globals';
import { responsesRequest } from './responses-requests.js';
import type { CanonicalEvent, SettledEvent } from '../../src/canonical/canonical-event.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import { ResponseAnswer } from '../../src/features/responses/response-answer.js';
import {
  ResponsesStreamRenderer,
  renderResponse,
} from '../../src/features/responses/responses.render.js';
import type { BillableRoute } from '../../src/canonical/billable-route.js';

export const route = { model: 'a/b', provider: 'a' } as BillableRoute;
export const opening: CanonicalEvent = { type: 'route', route, droppedParams: [] };
export const usage = {
  ...NO_USAGE,
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 4,
  reasoningTokens: 2,
};
export const settled: SettledEvent = { type: 'settled', cost: 7, usage, usageSource: 'upstream' };
export const finish = (reason = 'stop'): CanonicalEvent => ({ type: 'finish', choice: 0, reason });
export const text = (piece: string): CanonicalEvent => ({ type: 'text', choice: 0, text: piece });
export const call = (index: number, name: string): CanonicalEvent => ({
  type: 'tool_call',
  choice: 0,
  index,
  id: `call_${index}`,
  name,
});
export const args = (index: number, piece: string): CanonicalEvent => ({
  type: 'tool_arguments',
  choice: 0,
  index,
  text: piece,
});

export interface StreamEvent {
  type: string;
  sequence_number: number;
  response?: { status: string; output: object[] } & Record<string, unknown>;
  [field: string]: unknown;
}

/** Parses a stream and checks the name and number of each event. */
export function read(stream: string, firstNumber = 0): StreamEvent[] {
  const frames = stream.split('\n\n');
  expect(frames.pop()).toBe('');
  return frames.map((frame, index) => {
    const [, name, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
    const event = JSON.parse(data) as StreamEvent;
    expect(event).toMatchObject({ type: name, sequence_number: firstNumber + index });
    return event;
  });
}

export function streamOf(events: CanonicalEvent[], fields: object = {}): StreamEvent[] {
  const request = responsesRequest(fields);
  const renderer = new ResponsesStreamRenderer({ request, createdAt: 1_700_000_000 });
  const pieces = [opening, ...events].map((event) => renderer.render(event) ?? '');
  return read(pieces.join('') + renderer.end().toString());
}

export function wholeOf(events: CanonicalEvent[], fields: object = {}): Record<string, unknown> {
  const answer = new ResponseAnswer({
    request: responsesRequest(fields),
    createdAt: 1_700_000_000,
  });
  for (const event of [opening, ...events]) answer.observe(event);
  return JSON.parse(renderResponse(answer).toString()) as Record<string, unknown>;
}

export const typesOf = (events: StreamEvent[]) =>
  events.map(({ type }) => type.replace('response.', '')).slice(2, -1);

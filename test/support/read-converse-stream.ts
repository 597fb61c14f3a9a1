import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import type { ConverseAnswerOptions } from '../../src/vendors/dialects/converse/converse-answer-reader.js';
import { ConverseStreamDecoder } from '../../src/vendors/dialects/converse/converse-stream-decoder.js';

export interface Reading {
  events: CanonicalEvent[];
  failure: unknown;
  isDone: boolean;
}

/** Reads chunks until the end or a failure. */
export function read(chunks: Buffer[], overrides: Partial<ConverseAnswerOptions> = {}): Reading {
  const decoder = new ConverseStreamDecoder({
    signatureIssuer: 'maker',
    redactedIssuer: 'maker-redacted',
    jsonTool: undefined,
    ...overrides,
  });
  const events: CanonicalEvent[] = [];
  let failure: unknown;
  try {
    for (const chunk of chunks) for (const event of decoder.push(chunk)) events.push(event);
    decoder.end();
  } catch (error) {
    failure = error;
  }
  return { events, failure, isDone: decoder.isDone };
}

/** Returns the events of a complete answer. */
export function readAll(chunks: Buffer[], overrides: Partial<ConverseAnswerOptions> = {}) {
  const { events, failure } = read(chunks, overrides);
  if (failure) throw failure as Error;
  return events;
}

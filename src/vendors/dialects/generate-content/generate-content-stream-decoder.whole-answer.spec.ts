import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { decodeGenerateContentAnswer } from './generate-content-stream-decoder.js';

const decode = (answer: unknown): CanonicalEvent[] =>
  decodeGenerateContentAnswer(
    Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)),
  );
const candidate = (parts: object[], rest: object = {}): object => ({
  content: { role: 'model', parts },
  finishReason: 'STOP',
  ...rest,
});
const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 };
/** Returns the events without the start event. */
const eventsOf = (...candidates: object[]): CanonicalEvent[] =>
  decode({ candidates, responseId: 'r' }).slice(1);

describe(decodeGenerateContentAnswer.name, () => {
  it("reads text, finish and usage under the vendor's id", () => {
    const answer = { candidates: [candidate([{ text: 'Hi' }])], usageMetadata, responseId: 'r' };
    expect(decode({ ...answer, modelVersion: 'm', novelty: [1] })).toEqual([
      { type: 'start', id: 'r' },
      { type: 'text', choice: 0, text: 'Hi' },
      {
        type: 'usage',
        usage: expect.objectContaining({ inputTokens: 7, outputTokens: 2 }) as unknown,
      },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it('keeps reasoning, calls and texts separate, each with its signature', () => {
    const parts = [
      { text: 'hm', thought: true },
      { text: 'well', thought: true, thoughtSignature: 'AAA' },
      { text: 'Hi', thoughtSignature: 'BBB' },
      { functionCall: { id: 'x', name: 'f', args: { a: [1] } }, thoughtSignature: 'CCC' },
      { functionCall: { name: 'g' } },
      { text: '', thoughtSignature: 'DDD' },
    ];
    expect(eventsOf(candidate(parts))).toEqual([
      { type: 'reasoning', choice: 0, text: 'hm' },
      { type: 'reasoning', choice: 0, text: 'well', signature: 'google:AAA' },
      { type: 'text', choice: 0, text: 'Hi' },
      { type: 'reasoning', choice: 0, text: '', signature: 'google:text:BBB' },
      { type: 'tool_call', choice: 0, index: 0, id: 'x', name: 'f', signature: 'google:CCC' },
      { type: 'tool_arguments', choice: 0, index: 0, text: '{"a":[1]}' },
      {
        type: 'tool_call',
        choice: 0,
        index: 1,
        id: expect.stringMatching(/^call_[0-9a-f]{24}$/) as unknown,
        name: 'g',
      },
      { type: 'tool_arguments', choice: 0, index: 1, text: '{}' },
      { type: 'reasoning', choice: 0, text: '', signature: 'google:text:DDD' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
    ]);
  });

  it('gives all calls distinct ids, whatever the vendor sends', () => {
    const twins = [
      { functionCall: { id: 'x', name: 'f' } },
      { functionCall: { id: 'x', name: 'f' } },
    ];
    const calls = eventsOf(candidate(twins), candidate(twins, { index: 1 })).filter(
      (event) => event.type === 'tool_call',
    );
    expect(new Set(calls.map((call) => call.id)).size).toBe(4);
    expect(calls.map(({ choice, index }) => [choice, index])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
  });

  it('distinguishes answers by index or position', () => {
    for (const index of [{ index: 1 }, {}]) {
      expect(
        eventsOf(
          candidate([{ text: 'a' }]),
          candidate([{ text: 'b' }], { ...index, finishReason: 'MAX_TOKENS' }),
        ),
      ).toEqual([
        { type: 'text', choice: 0, text: 'a' },
        { type: 'text', choice: 1, text: 'b' },
        { type: 'finish', choice: 0, reason: 'stop' },
        { type: 'finish', choice: 1, reason: 'length' },
      ]);
    }
  });

  it.each([
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL'],
    ['UNEXPECTED_TOOL_CALL', 'UNEXPECTED_TOOL_CALL'],
    ['OTHER', 'OTHER'],
    ['SOMETHING_NEW', 'SOMETHING_NEW'],
  ])('does not turn %s into a stop', (finishReason, reason) => {
    expect(eventsOf({ finishReason })).toEqual([{ type: 'finish', choice: 0, reason }]);
    const called = candidate([{ functionCall: { name: 'f' } }], { finishReason });
    expect(eventsOf(called).at(-1)).toEqual({ type: 'finish', choice: 0, reason });
  });

  it('treats a blocked prompt as a filtered answer, charged for the prompt', () => {
    expect(
      decode({
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
      }),
    ).toEqual([
      { type: 'start' },
      { type: 'finish', choice: 0, reason: 'content_filter' },
      {
        type: 'usage',
        usage: expect.objectContaining({ inputTokens: 9, outputTokens: 0 }) as unknown,
      },
    ]);
  });

  it('emits log probabilities with the text, or alone', () => {
    const logprobsResult = { chosenCandidates: [{ token: 'Hi', logProbability: -1 }] };
    const logprobs = { content: [expect.objectContaining({ token: 'Hi', logprob: -1 })] };
    expect(eventsOf(candidate([{ text: 'Hi' }], { logprobsResult }))[0]).toEqual({
      type: 'text',
      choice: 0,
      text: 'Hi',
      logprobs,
    });
    expect(eventsOf(candidate([], { logprobsResult }))[0]).toEqual({
      type: 'text',
      choice: 0,
      text: '',
      logprobs,
    });
  });

  it('skips parts that were not requested', () => {
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'QUJD' } },
      { executableCode: { code: '1' } },
      { codeExecutionResult: { output: '1' } },
      { novelty: true },
      null,
      'x',
      { text: 5 },
    ];
    expect(eventsOf(candidate(parts as object[]))).toEqual([
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'unreadable'],
    ['no candidates', { candidates: [], usageMetadata }, 'unreadable'],
    ['no JSON', '{"candidates":[', 'unreadable'],
    ['an array', '[]', 'unreadable'],
    ['null', 'null', 'unreadable'],
    ['a call without a name', { candidates: [candidate([{ functionCall: {} }])] }, 'unreadable'],
    ['an index out of range', { candidates: [candidate([], { index: 1e9 })] }, 'unreadable'],
    ['an index of another type', { candidates: [candidate([], { index: 'x' })] }, 'unreadable'],
    ['no finish reason', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, 'cut'],
    [
      'an unspecified finish reason',
      { candidates: [candidate([{ text: 'Hi' }], { finishReason: 'FINISH_REASON_UNSPECIFIED' })] },
      'cut',
    ],
    [
      'an error',
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' } },
      'rate_limited',
    ],
    ['an error in a list', [{ error: { code: 503, message: 'x' } }], 'server'],
  ])('fails with %s', (_name, answer, failure) => {
    expect(() => decode(answer)).toThrow(expect.objectContaining({ failure }));
  });
});

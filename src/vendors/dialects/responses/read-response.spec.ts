import { describe, expect, it } from '@jest/globals';
import { relayResponsesAnswer } from './read-response.js';

const EDITS = { id: 'resp_ours', model: 'a/b', store: true };
const relay = (answer: unknown) =>
  relayResponsesAnswer(
    Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)),
    EDITS,
    {},
  );

const complete = {
  id: 'resp_vendor',
  model: 'gpt',
  status: 'completed',
  error: null,
  output: [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'abc' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'Hällo' }, { refusal: 'x' }] },
    { type: 'function_call', name: 'f', arguments: '{}' },
  ],
};

describe(relayResponsesAnswer.name, () => {
  it('relays the bytes with the edits, and the data for the ledger', () => {
    const spelled = '{ "id":"resp_vendor",  "n": 1.50, "status":"completed","output":[]}';
    const [start, event] = relay(spelled);
    expect(start).toEqual({ type: 'start', id: 'resp_vendor' });
    expect(event).toMatchObject({ dialect: 'responses', hasContent: true, finishReason: 'stop' });
    expect((event as { bytes: Buffer }).bytes.toString()).toBe(
      '{"id":"resp_ours","n": 1.50,"status":"completed","output":[],"model":"a/b","store":true}',
    );
  });

  it('measures the output and reads the usage', () => {
    const usage = { input_tokens: 3, output_tokens: 2 };
    expect(relay({ ...complete, usage, service_tier: 'flex' })[1]).toMatchObject({
      usage: { inputTokens: 3, servedTier: 'flex' },
    });
    expect(relay({ ...complete, usage })[1]).toMatchObject({
      outputCharacters: 3 + 5 + 1 + 1 + 2,
      finishReason: 'tool_calls',
      usage: { inputTokens: 3, outputTokens: 2 },
      answer: { id: 'resp_ours', model: 'a/b', store: true, output: complete.output },
    });
  });

  it.each<[unknown, string]>([
    [{}, 'unreadable'],
    [{ status: 'queued', output: [] }, 'unreadable'],
    ['nonsense', 'unreadable'],
    ['[]', 'unreadable'],
    [{ status: 'failed', error: { code: 'rate_limit_exceeded', message: 'x' } }, 'rate_limited'],
    [{ status: 'failed', error: { code: 'server_error', message: 'x' } }, 'server'],
    [{ error: { message: 'x' } }, 'server'],
    [{ error: { message: 'x', type: 'BadRequestError', code: 400 } }, 'caller'],
    [{ error: { message: 'x', code: 429 } }, 'rate_limited'],
  ])('fails for %j', (answer, failure) => {
    expect(() => relay(answer)).toThrow(expect.objectContaining({ failure }));
  });
});

import { describe, expect, it } from '@jest/globals';
import { COMMON_VERDICTS, type StatusVerdict } from '../../../../test/support/status-verdicts.js';
import {
  classifyChatError,
  classifyInlineChatError,
  assertNotFailed,
} from './classify-chat-error.js';
import { ChatStreamDecoder } from './chat-stream-decoder.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { decodeChatAnswer } from './decode-chat-answer.js';
import { relayChatAnswer } from './relay-chat-answer.js';

const classify = (status: number, error: unknown = { message: 'x' }) =>
  classifyChatError(status, {}, { error });

describe(classifyChatError.name, () => {
  it.each<StatusVerdict>([
    ...COMMON_VERDICTS,
    [405, 'caller', false, false],
    [410, 'operator', true, false],
    [425, 'server', true, false],
    [498, 'server', true, false],
    [415, 'caller', false, false],
    [501, 'server', true, true],
    [502, 'server', true, true],
    [204, 'unreadable', true, false],
  ])('classifies status %d as %s', (status, failure, allowsFallback, isRetryable) => {
    expect(classify(status)).toMatchObject({ status, failure, allowsFallback, isRetryable });
  });

  it.each<[number, object, string]>([
    [429, { code: 'insufficient_quota' }, 'operator'],
    [429, { type: 'insufficient_quota' }, 'operator'],
    [429, { code: 'rate_limit_exceeded' }, 'rate_limited'],
    [400, { code: 'billing_hard_limit_reached' }, 'operator'],
    [400, { code: 'account_deactivated' }, 'operator'],
    [400, { code: 'invalid_api_key' }, 'operator'],
    [400, { message: 'Incorrect API key provided: ab.' }, 'operator'],
    [429, { type: 'exceeded_current_quota_error' }, 'operator'],
    [400, { code: 'model_not_found' }, 'operator'],
    [404, { code: 'DeploymentNotFound' }, 'operator'],
    [400, { code: 'OperationNotSupported' }, 'operator'],
    [400, { code: 'content_filter', param: 'prompt' }, 'caller'],
    [400, { code: 'context_length_exceeded' }, 'context_length'],
    [413, { message: "This model's maximum context length is 8192 tokens." }, 'context_length'],
    [400, { message: 'The prompt exceeds the context window.' }, 'context_length'],
    [400, { message: 'the request exceeds the available context size' }, 'context_length'],
    [422, { message: '`inputs` must have less than 1024 tokens.' }, 'context_length'],
    [500, { message: 'maximum context length' }, 'server'],
    [400, { code: 400 }, 'caller'],
  ])('classifies %d with %j as %s', (status, error, failure) => {
    expect(classify(status, error).failure).toBe(failure);
  });

  it.each<[unknown, string]>([
    [{ error: { message: 'nested' } }, 'nested'],
    [{ error: 'plain' }, 'plain'],
    [{ message: 'flat', code: 400 }, 'flat'],
    [[{ error: { message: 'listed' } }], 'listed'],
    [{ detail: 'detailed' }, 'detailed'],
    [{ detail: [{ loc: ['body', 'top_p'], msg: 'detailed' }] }, 'detailed'],
    [{ detail: [] }, 'status 400'],
    [{ detail: [7] }, 'status 400'],
    [{ error: { message: 7 } }, 'status 400'],
    [{ error: null }, 'status 400'],
    [{}, 'status 400'],
    [[], 'status 400'],
    ['text', 'status 400'],
    [undefined, 'status 400'],
  ])('reads the message of %j', (body, message) => {
    expect(classifyChatError(400, {}, body).message).toBe(message);
  });

  it('truncates a long message', () => {
    expect(classify(400, { message: 'x'.repeat(100_000) }).message).toHaveLength(1_000);
  });

  it("passes on the vendor's field name", () => {
    expect(classify(400, { message: 'x', param: 'messages[0].content' }).param).toBe(
      'messages[0].content',
    );
    for (const param of ['', null, 5, undefined]) {
      expect(classify(400, { message: 'x', param }).param).toBeUndefined();
    }
  });

  it.each([
    [['body', 'messages', 0, 'role'], 'messages.0.role'],
    [['body'], undefined],
    ['body', undefined],
  ])('maps the location %j to the field %s', (loc, param) => {
    expect(classifyChatError(422, {}, { detail: [{ loc, msg: 'x' }] }).param).toBe(param);
  });

  it('reads the code next to a plain-text error', () => {
    const body = { error: 'no such model', code: 'model_not_found' };
    expect(classifyChatError(400, {}, body).failure).toBe('operator');
  });

  it("names the conversation when the vendor's filter rejects the prompt", () => {
    const error = { message: 'filtered', code: 'content_filter', param: 'prompt' };
    expect(classify(400, error).param).toBe('messages');
  });

  it('reads the retry delay and is then not retried at once', () => {
    const error = classifyChatError(503, { 'retry-after': '3' }, {});
    expect(error).toMatchObject({ retryAfterMs: 3_000, isRetryable: false });
  });

  it.each([
    'sk-proj-abcdefGHIJKL0123456789',
    'sk-vendorkeywithoutdigits',
    'sk-proj-****************************abcd',
    'sk_live_abcdef0123',
    'gsk_abcdef0123456789',
    'xai-abcdef0123456789',
    'AIzaSyA-abcdefghijklmnopqrstuvwxyz01234',
    'key-0123456789abcdef',
    'Bearer abcdefgh.ijklmnop-qrst_uvwx',
    'bearer abcdefgh0123',
  ])('keeps %s out of the message', (secret) => {
    for (const text of [secret, `Incorrect API key provided: ${secret}.`, `(${secret})`]) {
      const { message } = classify(401, { message: text });
      expect(message).toContain('[redacted]');
      expect(message).not.toContain(secret.slice(-8));
    }
  });

  it('redacts a key at the truncation point', () => {
    const secret = 'sk-proj-abcdefGHIJKL0123456789';
    for (let before = 960; before <= 1_000; before++) {
      const { message } = classify(400, { message: `${'x'.repeat(before)} ${secret}` });
      expect(message).not.toContain('sk-proj');
    }
  });

  it.each([
    'Unknown key additional_properties in schema.',
    "Invalid field 'key_value_pairs'.",
    'The primary key something_else is missing.',
    'Bearer token missing.',
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
  ])('leaves words unchanged: %s', (message) => {
    expect(classify(400, { message }).message).toBe(message);
  });

  it.each(['key-', 'key_a', 'sk-', 'Bearer ', 'AIza', 'key-*'])(
    'searches for keys in linear time: repeated %s',
    (piece) => {
      const startedMs = performance.now();
      classify(400, { message: piece.repeat(250_000 / piece.length) });
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    },
  );
});

describe(classifyInlineChatError.name, () => {
  it('takes the status from the code, 500 by default', () => {
    expect(classifyInlineChatError({ error: { code: 429 } }).status).toBe(429);
    expect(classifyInlineChatError({ error: { code: '503' } }).status).toBe(503);
    expect(classifyInlineChatError({ error: { code: 'overloaded' } }).status).toBe(500);
    expect(classifyInlineChatError({ error: { code: 0 } }).status).toBe(500);
    expect(classifyInlineChatError({ error: { code: 600 } }).status).toBe(500);
    expect(classifyInlineChatError({ error: {} }).status).toBe(500);
  });

  it('maps known codes and types to statuses', () => {
    expect(classifyInlineChatError({ error: { type: 'rate_limit_error' } }).status).toBe(429);
    expect(classifyInlineChatError({ error: { code: 'context_length_exceeded' } }).failure).toBe(
      'context_length',
    );
  });
});

const failed = (error?: object) => ({
  index: 0,
  message: { role: 'assistant', content: 'So far' },
  delta: { content: 'So far' },
  finish_reason: 'error',
  ...(error && { error }),
});

describe(assertNotFailed.name, () => {
  it.each([
    [{ code: 502, message: 'down' }, 'server'],
    [{ code: 429, message: 'slow' }, 'rate_limited'],
    [{ code: 'context_length_exceeded', message: 'long' }, 'context_length'],
    [undefined, 'server'],
  ])('throws for a choice with the error %j', (error, failure) => {
    expect(() => assertNotFailed(failed(error))).toThrow(expect.objectContaining({ failure }));
  });

  it.each([{ finish_reason: 'stop' }, { finish_reason: null, error: null }, {}])(
    'accepts %j',
    (choice) => {
      expect(() => assertNotFailed(choice)).not.toThrow();
    },
  );

  it('is called wherever choices are read', () => {
    const answer = { id: 'a', model: 'm', choices: [failed({ code: 502, message: 'down' })] };
    const bytes = Buffer.from(JSON.stringify(answer));
    const expected = expect.objectContaining({
      failure: 'server',
      message: 'down',
    }) as unknown as Error;
    expect(() => relayChatAnswer(bytes, 'alias')).toThrow(expected);
    expect(() => decodeChatAnswer(bytes)).toThrow(expected);
    for (const reader of [
      new ChatStreamRelay({ alias: 'alias', includeUsage: false }),
      new ChatStreamDecoder(),
    ]) {
      reader.push(Buffer.from(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`));
      expect(reader.failure).toEqual(expected);
      expect(() => reader.end()).toThrow(expected);
    }
  });
});

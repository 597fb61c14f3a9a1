import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { TWO_CALLS } from '../contract/contract-conversation.js';
import type { ScriptedAnswer } from '../contract/contract-vendor.js';
import { FLEET_NAMES, VendorFleet } from '../contract/vendor-fleet.js';
import { readAvailable } from '../support/streamed-answer.js';

const HELLO = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 256 };

/** The path of each dialect, a body, and an event that its schema must reject. */
const DIALECTS: Record<string, { path: string; body: object; wrong: object }> = {
  chat: {
    path: '/v1/chat/completions',
    body: { ...HELLO, stream_options: { include_usage: true } },
    wrong: { id: 'a', object: 'chat.completion', created: 1, model: 'a/b', choices: [] },
  },
  messages: {
    path: '/v1/messages',
    body: HELLO,
    wrong: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } },
  },
  responses: {
    path: '/v1/responses',
    body: { input: 'Hello', max_output_tokens: 256 },
    wrong: { type: 'response.output_text.delta', delta: 'x' },
  },
};

const ANSWERS: Record<string, ScriptedAnswer> = {
  text: { text: 'Hello there', finish: 'stop', usage: { input: 3, output: 2, cacheRead: 1 } },
  'thoughts and calls': {
    ...TWO_CALLS,
    reasoning: { text: 'I need both.', signature: 'YSBzZWFsIG9mIHRoZSBtb2RlbA==' },
  },
  'too short an answer': { text: 'Hel', finish: 'length', usage: { input: 3, output: 1 } },
};

const DIALECT_NAMES = Object.keys(DIALECTS);

const COMBINATIONS = DIALECT_NAMES.flatMap((dialect) =>
  FLEET_NAMES.flatMap((vendor) =>
    Object.keys(ANSWERS).map((answer) => ({ dialect, vendor, answer })),
  ),
);

describe('the documented schema of an event', () => {
  const validators: Record<string, ValidateFunction> = {};
  let fleet: VendorFleet;

  beforeAll(async () => {
    fleet = await VendorFleet.start();
    const document = (await (await fleet.gateway.fetch('/docs-json')).json()) as object;
    const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(document, 'api');
    for (const [dialect, { path }] of Object.entries(DIALECTS)) {
      const operation = `api#/paths/${path.replaceAll('/', '~1')}/post`;
      const $ref = `${operation}/responses/200/content/text~1event-stream/schema`;
      validators[dialect] = ajv.compile({ $ref });
    }
  });
  afterAll(() => fleet.close());

  const faultsOf = (dialect: string, event: unknown): unknown =>
    validators[dialect]!(event) ? [] : { event, errors: validators[dialect]!.errors };

  const streamFrom = async (dialect: string, model: string): Promise<unknown[]> => {
    const { path, body } = DIALECTS[dialect]!;
    const response = await fleet.gateway.post(path, { model, stream: true, ...body });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const lines = (await readAvailable(response)).body
      .split('\n')
      .filter((line) => line.startsWith('data: '));
    return lines
      .map((line) => line.slice('data: '.length))
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data) as unknown);
  };

  it.each(COMBINATIONS)(
    'matches everything that $dialect streams from $vendor: $answer',
    async ({ dialect, vendor, answer }) => {
      const member = fleet.member(vendor);
      member.answer(ANSWERS[answer]!);
      const events = await streamFrom(dialect, member.model);
      expect(events.length).toBeGreaterThan(2);
      for (const event of events) expect(faultsOf(dialect, event)).toEqual([]);
    },
  );

  it.each(DIALECT_NAMES)('matches the error that ends a stream of %s', async (dialect) => {
    const events = await streamFrom(dialect, 'sandbox/fault-cut');
    expect(JSON.stringify(events.at(-1))).toContain('"error"');
    for (const event of events) expect(faultsOf(dialect, event)).toEqual([]);
  });

  it.each(DIALECT_NAMES)('of %s does not match everything', (dialect) => {
    for (const wrong of [DIALECTS[dialect]!.wrong, { type: 'unknown' }, {}, 'text']) {
      expect(validators[dialect]!(wrong)).toBe(false);
    }
  });
});

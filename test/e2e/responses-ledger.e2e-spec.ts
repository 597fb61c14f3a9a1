import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from '../support/logged-request.js';

/** Columns of a log row that must not depend on the dialect. */
const COMPARED = [
  'outcome',
  'status',
  'cost',
  'usage_source',
  'error_type',
  'finish_reason',
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'reasoning_tokens',
] as const;

describe('a conversation by POST /v1/responses and by POST /v1/chat/completions', () => {
  let gateway: BootedGateway;

  beforeAll(async () => {
    gateway = await bootGateway();
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
  });

  it.each([
    ['responses', { input: 'x', max_output_tokens: 1e9 }, 'max_output_tokens'],
    [
      'chat/completions',
      { messages: [{ role: 'user', content: 'x' }], max_tokens: 1e9 },
      'max_tokens',
    ],
    ['messages', { messages: [{ role: 'user', content: 'x' }], max_tokens: 1e9 }, 'max_tokens'],
  ])(
    'names the field of %s to lower when the credits are insufficient',
    async (path, body, field) => {
      const answer = await gateway.post(`/v1/${path}`, { model: 'sandbox/echo', ...body });
      expect(answer.status).toBe(402);
      expect(await answer.text()).toContain(`send \`${field}\`: `);
    },
  );

  const TOOL = { name: 'weather', parameters: { type: 'object', properties: {} } };
  const CASES: [string, object, object][] = [
    [
      'text with instructions',
      {
        messages: [
          { role: 'system', content: 'Be kind.' },
          { role: 'user', content: 'Hello there, 你好' },
        ],
      },
      { instructions: 'Be kind.', input: 'Hello there, 你好' },
    ],
    [
      'a later turn',
      {
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two three' },
          { role: 'user', content: 'four' },
        ],
      },
      {
        input: [
          { role: 'user', content: 'one' },
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'two three' }],
          },
          { role: 'user', content: [{ type: 'input_text', text: 'four' }] },
        ],
      },
    ],
    [
      'a tool call',
      {
        messages: [{ role: 'user', content: 'Weather?' }],
        tools: [{ type: 'function', function: TOOL }],
      },
      { input: 'Weather?', tools: [{ type: 'function', ...TOOL }] },
    ],
    [
      'a truncated answer',
      { messages: [{ role: 'user', content: 'a b c d e f' }], max_tokens: 3 },
      { input: 'a b c d e f', max_output_tokens: 3 },
    ],
  ];

  const rowOf = async (path: string, body: object): Promise<LoggedRequest> => {
    const answer = await gateway.post(path, body);
    await answer.text();
    return loggedRequest(gateway.database, answer.headers.get('x-request-id'));
  };

  it.each(
    CASES.flatMap(([name, chat, responses]) => [
      { name, chat, responses, stream: false },
      { name, chat, responses, stream: true },
    ]),
  )('cost and log the same: $name, stream $stream', async ({ chat, responses, stream }) => {
    const model = 'sandbox/echo';
    const one = await rowOf('/v1/chat/completions', { model, stream, ...chat });
    const other = await rowOf('/v1/responses', { model, stream, ...responses });
    const pick = (row: LoggedRequest): unknown[] => COMPARED.map((field) => row[field]);
    expect(pick(other)).toEqual(pick(one));
    expect(one.cost).toBeGreaterThan(0);
    expect(other).toMatchObject({ endpoint: 'responses' });
  });

  it('log a failure the same, at no cost', async () => {
    const input = 'Hello';
    for (const model of ['sandbox/fault-400', 'sandbox/fault-500', 'sandbox/fault-cut']) {
      const messages = [{ role: 'user', content: input }];
      const one = await rowOf('/v1/chat/completions', { model, messages });
      const other = await rowOf('/v1/responses', { model, input });
      for (const field of COMPARED) expect([field, other[field]]).toEqual([field, one[field]]);
      expect(other.cost).toBe(0);
    }
  });

  it('has the usual headers, also at its mirrored path', async () => {
    const answer = await gateway.post('/api/v1/responses', { model: 'sandbox/echo', input: 'Hi' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe('sandbox');
    expect(answer.headers.get('x-cache')).toBe('MISS');
    expect(Number(answer.headers.get('x-gateway-cost'))).toBeGreaterThan(0);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('100000');
    const { id } = (await answer.json()) as { id: string };
    const generation = answer.headers.get('x-request-id')!;
    expect((await gateway.fetch(`/api/v1/responses/${id}`)).status).toBe(200);
    expect((await gateway.fetch(`/v1/generation?id=${generation}`)).status).toBe(200);
  });

  it('names the fields that another dialect does not support', async () => {
    const answer = await gateway.post('/v1/responses', {
      model: 'sandbox/echo',
      input: 'Hi',
      truncation: 'auto',
      temperature: 1,
    });
    expect(answer.headers.get('x-gateway-dropped-params')).toContain('temperature');
  });
});

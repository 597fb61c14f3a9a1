import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SignedReceiptDto } from '../../src/features/customer/receipts/receipts.dto.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  politeAnswer,
  sendJson,
  startFakeOpenAi,
  type FakeOpenAi,
  type PoliteOptions,
} from '../support/fake-openai.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { until } from '../support/until.js';

/** A thousand days ago and a thousand days ahead. */
const [PAST, FUTURE] = [-1, 1].map((way) =>
  new Date(Date.now() + way * 86_400_000_000).toISOString().slice(0, 10),
);

/** In credits per token: 2 and 10, at flex 1 and 5, at priority 4 and 20; twice as much for long prompts. */
const TIERS = {
  id: 'one/tiers',
  context_length: 1_000_000,
  pricing: { prompt: '0.000002', completion: '0.00001' },
  long_prompts: [{ above: 200_000, pricing: { prompt: '0.000004', completion: '0.00002' } }],
  service_tiers: {
    flex: {
      pricing: { prompt: '0.000001', completion: '0.000005' },
      long_prompts: [{ above: 200_000, pricing: { prompt: '0.000002', completion: '0.00001' } }],
    },
    priority: {
      pricing: { prompt: '0.000004', completion: '0.00002' },
      long_prompts: [{ above: 200_000, pricing: { prompt: '0.000008', completion: '0.00004' } }],
    },
  },
};
const PICTURES = {
  id: 'one/pictures',
  kind: 'image',
  pricing: { image: '0.04' },
  sizes: [
    { size: '1024x1024', quality: 'low', pricing: { image: '0.01' } },
    { size: '1024x1536', quality: 'high', pricing: { image: '0.2' } },
  ],
};
const CHANGED = {
  id: 'one/changed',
  pricing: { prompt: '0.000002', completion: '0.00001' },
  price_changes: [
    { effective_from: FUTURE, pricing: { prompt: '0.000009' } },
    { effective_from: PAST, pricing: { prompt: '0.000003' } },
  ],
};

let fake: FakeOpenAi;
let files: OperatorFiles;
let gateway: BootedGateway;
/** Credits held during the vendor's work. */
let held: number;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  files = await writeOperatorFiles(
    { one: { base_url: fake.baseUrl, settings: { responses: 'true' } } },
    [TIERS, PICTURES, CHANGED],
  );
  gateway = await bootGateway({
    ...files.environment,
    ANTHROPIC_API_KEY: 'sk-ant-x',
    ANTHROPIC_BASE_URL: fake.baseUrl,
  });
});
afterAll(async () => {
  await gateway.close();
  await fake.close();
  await files.remove();
});
beforeEach(() => {
  held = 0;
  fake.calls.length = 0;
});

async function noteHold(): Promise<void> {
  const { rows } = await gateway.database.query<{ amount: number }>(
    'SELECT amount::integer AS amount FROM holds WHERE tenant_id = $1',
    [gateway.tenantId],
  );
  held = rows.reduce((sum, { amount }) => sum + amount, 0);
}

function answerWith(options: PoliteOptions): void {
  fake.answer = async (call, response) => {
    await noteHold();
    await politeAnswer(options)(call, response);
  };
}

/** Reads an answer to its end and returns its receipt. */
async function receiptOf(answer: Promise<Response>): Promise<SignedReceiptDto['receipt']> {
  const response = await answer;
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const path = `/v1/customer/receipts/${response.headers.get('x-request-id')}`;
  await until(async () => (await gateway.fetch(path)).status === 200);
  return ((await (await gateway.fetch(path)).json()) as SignedReceiptDto).receipt;
}

/** The smallest valid beginning of a PNG. */
const PICTURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');

const MOST = 100;
const ask = (fields: object): Promise<Response> =>
  gateway.post('/v1/chat/completions', {
    model: TIERS.id,
    max_tokens: MOST,
    messages: [{ role: 'user', content: 'Hello' }],
    ...fields,
  });
/** The token bound: "Hello" is 2 tokens and the message 8. */
const BOUND = 10;

describe('a service tier', () => {
  // First, since later quotes estimate from answers of this model.
  it('is quoted at its price, with the hold as the worst case', async () => {
    const body = { model: TIERS.id, max_tokens: MOST, service_tier: 'flex' };
    const messages = [{ role: 'user', content: 'Hello' }];
    const quote = await gateway.post('/v1/quote', { ...body, messages });
    expect(await quote.json()).toMatchObject({
      routes: [{ cost: { worst: 1_020, likely: 2 + MOST * 5 } }],
    });
  });

  it.each([
    // requested, served, held per prompt token and output token, charged per prompt token and output token
    ['flex', 'flex', 2, 10, 1, 5],
    ['flex', 'default', 2, 10, 2, 10],
    ['priority', 'priority', 4, 20, 4, 20],
    ['priority', 'default', 4, 20, 2, 10],
    ['priority', undefined, 4, 20, 4, 20],
    ['auto', 'priority', 4, 20, 4, 20],
    [undefined, 'flex', 2, 10, 1, 5],
  ])(
    'requested as %s and served as %s is held, charged and on the receipt, whole and streamed',
    async (requested, served, holdIn, holdOut, chargeIn, chargeOut) => {
      answerWith({ promptTokens: 8, completionTokens: 6, ...(served && { tier: served }) });
      for (const stream of [false, true]) {
        const { charge, prices } = await receiptOf(ask({ service_tier: requested, stream }));
        expect(held).toBe(BOUND * holdIn + MOST * holdOut);
        expect(charge).toMatchObject({ cost: 8 * chargeIn + 6 * chargeOut, shortfall: 0 });
        const paid = served ?? requested;
        expect(prices?.served_as).toBe(paid === 'default' ? undefined : paid);
        expect(fake.calls.at(-1)!.body.service_tier).toBe(requested);
      }
    },
  );

  it.each([false, true])(
    'of a prompt of 300,000 tokens costs the combined price (stream: %s)',
    async (stream) => {
      answerWith({ promptTokens: 300_000, completionTokens: 6, tier: 'priority' });
      const messages = [{ role: 'user', content: 'four '.repeat(300_000) }];
      const { charge } = await receiptOf(ask({ messages, stream, service_tier: 'priority' }));
      expect(charge.cost).toBe(300_000 * 8 + 6 * 40);
      expect(held).toBe((500_000 + 8) * 8 + MOST * 40);
    },
  );

  it('that was not requested costs no more than the hold', async () => {
    answerWith({ promptTokens: BOUND, completionTokens: MOST, tier: 'priority' });
    const { charge } = await receiptOf(ask({}));
    expect(charge).toMatchObject({ cost: 20 + 1_000, shortfall: 20 + 1_000 });
    expect(held).toBe(20 + 1_000);
  });

  it('of Responses is charged as served', async () => {
    fake.answer = async ({ body }, response) => {
      await noteHold();
      sendJson(response, 200, {
        ...{ id: 'resp_1', object: 'response', status: 'completed', model: body.model },
        ...{ output: [], usage: { input_tokens: 8, output_tokens: 6 }, service_tier: 'flex' },
      });
    };
    const body = { model: TIERS.id, input: 'Hello', max_output_tokens: MOST, service_tier: 'flex' };
    const { charge, prices } = await receiptOf(gateway.post('/v1/responses', body));
    expect(charge.cost).toBe(8 + 6 * 5);
    expect(prices?.served_as).toBe('flex');
  });

  it('without a price is rejected with the alternatives, and costs nothing', async () => {
    const response = await ask({ service_tier: 'scale' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'service_tier', message: expect.stringContaining('flex or priority') },
    });
    expect(fake.calls).toHaveLength(0);
  });

  it('is not called when max_cost is less than its worst case', async () => {
    const response = await ask({ service_tier: 'priority', max_cost: 1_500 });
    expect(response.status).toBe(402);
    answerWith({ promptTokens: 8, completionTokens: 6, tier: 'flex' });
    const { charge } = await receiptOf(ask({ service_tier: 'flex', max_cost: 1_500 }));
    expect(charge.cost).toBe(8 + 30);
  });
});

describe('a region', () => {
  const body = {
    model: 'anthropic/claude-opus-4-6',
    max_tokens: MOST,
    messages: [{ role: 'user', content: 'Hello' }],
  };

  it.each([
    // requested, served, held per prompt token (all of it written to the cache) and output token, charged per token
    ['us', 'us', 6.875, 27.5, 5.5, 27.5],
    ['us', 'global', 6.875, 27.5, 5, 25],
    [undefined, 'us', 6.25, 25, 5.5, 27.5],
  ])(
    'requested as %s and served as %s is held and charged',
    async (requested, served, holdIn, holdOut, chargeIn, chargeOut) => {
      fake.answer = async (call, response) => {
        await noteHold();
        expect(call.body.inference_geo).toBe(requested);
        sendJson(response, 200, {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6' },
          ...{ content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' },
          usage: { input_tokens: 8, output_tokens: 6, inference_geo: served },
        });
      };
      const answer = gateway.post('/v1/messages', { ...body, inference_geo: requested });
      const { charge, prices } = await receiptOf(answer);
      expect(charge.cost).toBe(Math.ceil(8 * chargeIn + 6 * chargeOut));
      expect(held).toBe(Math.ceil(BOUND * holdIn + MOST * holdOut));
      expect(prices?.served_as).toBe(served === 'us' ? 'us' : undefined);
    },
  );

  it('without a price is rejected with the alternatives', async () => {
    const response = await gateway.post('/v1/messages', { ...body, inference_geo: 'eu' });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/"code":400,"param":"inference_geo"/);
  });
});

describe('the size of an image', () => {
  it.each([
    [{ size: '1024x1024', quality: 'low' }, 10_000],
    [{ size: '1024x1536', quality: 'high' }, 200_000],
    [{ size: '2048x2048' }, 200_000],
    [{}, 200_000],
  ])('%j is held, charged and on the receipt', async (fields, credits) => {
    fake.answer = async (_call, response) => {
      await noteHold();
      sendJson(response, 200, { created: 1, data: [{ b64_json: PICTURE }, { b64_json: PICTURE }] });
    };
    const body = {
      model: PICTURES.id,
      prompt: 'A cat',
      n: 2,
      response_format: 'b64_json',
      ...fields,
    };
    const { charge } = await receiptOf(gateway.post('/v1/images/generations', body));
    expect(held).toBe(2 * credits);
    expect(charge.cost).toBe(2 * credits);
  });
});

describe('GET /v1/models', () => {
  it('shows tiers, sizes and price changes next to the four prices', async () => {
    const of = async (id: string) => (await gateway.fetch(`/v1/models/${id}`)).json();
    const four = { prompt: '0.000002', completion: '0.00001', request: '0', image: '0' };
    expect(await of(TIERS.id)).toMatchObject({
      pricing: four,
      service_tiers: { flex: { pricing: { ...four, prompt: '0.000001', completion: '0.000005' } } },
    });
    expect(await of(PICTURES.id)).toMatchObject({
      sizes: [{ size: '1024x1024', quality: 'low', pricing: { image: '0.01' } }, {}],
    });
    expect(await of(CHANGED.id)).toMatchObject({
      pricing: { ...four, prompt: '0.000003' },
      price_changes: [{ effective_from: FUTURE, pricing: { ...four, prompt: '0.000009' } }],
    });
  });

  it('shows the charged price', async () => {
    answerWith({ promptTokens: 8, completionTokens: 6 });
    const { charge } = await receiptOf(ask({ model: CHANGED.id }));
    expect(charge.cost).toBe(8 * 3 + 6 * 10);
  });
});

it('the books balance', async () => {
  expect(await findLedgerFaults(gateway.database)).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { politeAnswer, startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';

const REQUESTS = 200;
const AFFORDABLE = 50;
/** "Hello" is 2 tokens and the message 8 at 1 credit, and 45 output tokens at 2. */
const HOLD = 10 + 45 * 2;
/** 10 tokens in, 5 out. */
const CHARGE = 10 + 5 * 2;
/** The default output limit of the model. */
const CONTEXT = 128_000;

describe('credits under load', () => {
  let fake: FakeOpenAi;
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    fake = await startFakeOpenAi();
    files = await writeOperatorFiles({ one: fake.baseUrl }, [
      { id: 'one/a', pricing: { prompt: '0.000001', completion: '0.000002' } },
      { id: 'one/dear', pricing: { prompt: '0.000001', completion: '0.001' } },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      GATEWAY_BOOTSTRAP_CREDITS: String(AFFORDABLE * HOLD),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await fake.close();
    await files.remove();
  });

  const ask = (rest: object = {}): Promise<Response> =>
    gateway.post('/v1/chat/completions', {
      model: 'one/a',
      max_tokens: 45,
      messages: [{ role: 'user', content: 'Hello' }],
      ...rest,
    });

  it(`admits exactly ${AFFORDABLE} of ${REQUESTS} requests held at a barrier`, async () => {
    let open = (): void => undefined;
    const barrier = new Promise<void>((resolve) => (open = resolve));
    const polite = politeAnswer();
    fake.answer = async (call, response) => {
      await barrier;
      await polite(call, response);
    };
    let done = false;
    const faults: string[] = [];
    const sampling = (async () => {
      while (!done) faults.push(...(await findLedgerFaults(gateway.database)));
    })();

    const answers = Array.from({ length: REQUESTS }, (_, index) =>
      ask({ stream: index % 2 === 0 }),
    );
    let refusals = 0;
    for (const answer of answers) {
      void answer.then((response) => {
        if (response.status === 402 && ++refusals === REQUESTS - AFFORDABLE) open();
      });
    }
    const responses = await Promise.all(answers);
    const bodies = await Promise.all(responses.map((response) => response.text()));
    done = true;
    await sampling;

    const count = (status: number): number =>
      responses.filter((response) => response.status === status).length;
    expect([count(200), count(402)]).toEqual([AFFORDABLE, REQUESTS - AFFORDABLE]);
    expect(fake.calls).toHaveLength(AFFORDABLE);
    expect(faults).toEqual([]);
    const refusal = JSON.parse(bodies[responses.findIndex(({ status }) => status === 402)]!) as {
      error: { message: string };
    };
    expect(refusal.error).toMatchObject({
      type: 'insufficient_credits',
      code: 402,
      param: 'credits',
    });
    expect(refusal.error.message).toContain(`${HOLD} credits`);

    expect(await readLedger(gateway.database)).toEqual([
      {
        balance: AFFORDABLE * (HOLD - CHARGE),
        held: 0,
        entries: AFFORDABLE * (HOLD - CHARGE),
        holds: 0,
      },
    ]);
    const { rows } = await gateway.database.query(
      `SELECT outcome, count(*) AS count, sum(cost)::bigint AS cost FROM request_logs
        GROUP BY outcome ORDER BY outcome`,
    );
    expect(rows).toEqual([
      { outcome: 'completed', count: AFFORDABLE, cost: AFFORDABLE * CHARGE },
      { outcome: 'refused', count: REQUESTS - AFFORDABLE, cost: 0 },
    ]);
  });

  it('never charges more than the credits: the part of a charge above its hold is a shortfall', async () => {
    fake.answer = politeAnswer({ completionTokens: 1_000_000 });
    const { balance } = (await readLedger(gateway.database))[0]!;
    const response = await ask({ stream_options: undefined });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('x-gateway-cost'))).toBe(balance);
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    const [after] = await readLedger(gateway.database);
    expect(after).toMatchObject({ balance: 0, held: 0 });
    const { rows } = await gateway.database.query(
      `SELECT kind, amount FROM ledger_entries WHERE request_id = $1 ORDER BY kind`,
      [response.headers.get('x-request-id')],
    );
    expect(rows).toEqual([
      { kind: 'charge', amount: -(10 + 2 * CONTEXT) },
      { kind: 'shortfall', amount: 10 + 2 * CONTEXT - balance },
    ]);
  });

  it('skips a more expensive fallback that the credits do not cover', async () => {
    await gateway.database.query(
      `WITH granted AS (UPDATE accounts SET balance = balance + $1::bigint, granted = granted + $1::bigint RETURNING tenant_id)
       INSERT INTO ledger_entries (tenant_id, kind, amount) SELECT tenant_id, 'grant', $1::bigint FROM granted`,
      [HOLD],
    );
    fake.calls.length = 0;
    fake.answer = (_call, response) => {
      response.writeHead(503, { 'retry-after': '60' });
      response.end();
    };
    const response = await ask({ model: undefined, models: ['one/a', 'one/dear'] });
    expect(response.status).toBe(502);
    expect(fake.calls.map((call) => call.body.model)).toEqual(['a']);
    const [after] = await readLedger(gateway.database);
    expect(after).toMatchObject({ balance: HOLD, held: 0 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { WALL_TEXT, startFailoverWall, type FailoverWall } from '../support/failover-wall.js';
import { brokenAnswer, continuingAnswer, errorAnswer, hangAnswer } from '../support/fake-openai.js';
import { findLedgerFaults, readLedger } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { SeededRandom } from '../support/seeded-random.js';
import { shortenGraces } from '../support/short-graces.js';
import { until } from '../support/until.js';
import {
  questionIn,
  readDialect,
  type CallerDialect,
  type ReadAnswer,
} from '../support/read-dialect.js';

/** First-byte and idle timeout: long enough for a healthy answer on a slow machine. */
const PATIENCE_MS = 6_000;
const COOLDOWN_MS = 300;
/** A longer answer counts as missing. */
const HANG_MS = 60_000;

const MODES = ['off', 'any'] as const;
type Mode = (typeof MODES)[number];
type Verdict = 'pass' | 'partial' | 'safe' | 'fail';

/** The vendor's calls of the failing model and the fallback, and the caller's answer. */
interface Seen {
  answer: ReadAnswer | 'hang';
  primary: readonly number[];
  fallback: number;
  mode: Mode;
}

/**
 * A fault and the expected behaviour, after the public catalogue of Failover Bench (method 0.1):
 * `required` must hold in any case; a rescue passes completely if `advised` holds as well.
 */
interface Scenario {
  id: string;
  title: string;
  fallback?: 'ok' | 'picky';
  /** The vendor's own error is the expected answer. */
  isRefusal?: boolean;
  required?: (seen: Seen) => boolean | Promise<boolean>;
  advised?: (seen: Seen) => boolean | Promise<boolean>;
}

const atMost =
  (calls: number) =>
  ({ primary }: Seen): boolean =>
    primary.length <= calls;
const atOnceAtMost =
  (calls: number, withinMs: number) =>
  ({ primary }: Seen): boolean =>
    primary.filter((at) => at - primary[0]! < withinMs).length <= calls;

/** Several, since a model whose streams break repeatedly cools down. */
const TORN = Array.from({ length: 20 }, (_, index) => `torn${index}`);

const ELSEWHERE = ['refused', 'nowhere', 'tls'];

/** The failing model of a run and its fallback. */
const namesOf = ({ id, fallback = 'ok' }: Pick<Scenario, 'id' | 'fallback'>, mode: Mode) =>
  [`${id}-${mode}`, `${fallback}-${id}-${mode}`] as const;

function aliasOf(name: string): string {
  const [id] = name.split('-');
  return `${ELSEWHERE.includes(id!) ? id : 'wall'}/${name}`;
}

describe('the sixteen scenarios of Failover Bench', () => {
  let wall: FailoverWall;
  let gateway: BootedGateway;
  let folder: string;

  beforeAll(async () => {
    wall = await startFailoverWall();
    folder = await mkdtemp(join(tmpdir(), 'gateway-files-'));
    const providers = join(folder, 'providers.json');
    const catalogue = join(folder, 'catalogue.json');
    const { port } = new URL(wall.baseUrl);
    const elsewhere = {
      refused: 'http://127.0.0.1:9/v1',
      nowhere: 'http://nowhere.invalid/v1',
      tls: `https://127.0.0.1:${port}/v1`,
    };
    const entry = (id: string, base_url: string): object => ({ id, name: id, base_url });
    await writeFile(
      providers,
      JSON.stringify([
        { ...entry('wall', wall.baseUrl), settings: { prefill: 'plain' } },
        ...Object.entries(elsewhere).map(([id, url]) => entry(id, url)),
      ]),
    );
    const names = [
      ...['ok', 'picky', 'dear', 'left', 'hush', 'told', ...TORN],
      ...[...SCENARIOS, ...FURTHER].flatMap((scenario) =>
        MODES.flatMap((mode) => namesOf(scenario, mode)),
      ),
      ...CUTS.flatMap((cut) => DIALECTS.map((dialect) => `${cut}-${dialect}`)),
    ];
    const models = names.map((name) => {
      const pricing =
        name === 'dear'
          ? { prompt: '0.00001', completion: '0.00002' }
          : { prompt: '0.000001', completion: '0.000002' };
      return { id: aliasOf(name), pricing };
    });
    await writeFile(catalogue, JSON.stringify({ models }));
    gateway = await bootGateway({
      GATEWAY_PROVIDERS: providers,
      GATEWAY_CATALOGUE: catalogue,
      GATEWAY_FIRST_BYTE_TIMEOUT_MS: String(PATIENCE_MS),
      GATEWAY_IDLE_TIMEOUT_MS: String(PATIENCE_MS),
      GATEWAY_COOLDOWN_MS: String(COOLDOWN_MS),
    });
    shortenGraces(gateway);
  });
  afterAll(async () => {
    await gateway.close();
    await wall.close();
    await rm(folder, { recursive: true });
  });

  const ask = async (
    models: readonly string[],
    fields: object = {},
    dialect: CallerDialect = 'chat',
  ): Promise<ReadAnswer | 'hang'> => {
    const [path, body] = questionIn(dialect, { models, ...fields });
    try {
      const response = await gateway.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(HANG_MS),
      });
      return await readDialect(dialect, response);
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') return 'hang';
      throw error;
    }
  };
  const streamed = (recovery: Mode): object => ({
    ...{ stream: true, recovery },
    stream_options: { include_usage: true },
  });
  const isWhole = (answer: ReadAnswer | 'hang'): boolean =>
    answer !== 'hang' && answer.ending === 'whole' && answer.text === WALL_TEXT;

  const isAlive = async (): Promise<boolean> => isWhole(await ask(['wall/ok'], { stream: true }));

  /** Fails for six requests, all to be answered by the fallback, and then recovers. */
  const flap = async ({ mode }: Seen): Promise<boolean> => {
    const [name, fallback] = namesOf({ id: 's15' }, mode);
    const models = [aliasOf(name), aliasOf(fallback)];
    wall.faults.set(name, errorAnswer(503));
    for (let count = 0; count < 6; count++) {
      if (!isWhole(await ask(models, streamed(mode)))) return false;
    }
    wall.faults.set(name, continuingAnswer(WALL_TEXT));
    const endMs = performance.now() + HANG_MS;
    while (performance.now() < endMs) {
      const answer = await ask(models, streamed(mode));
      if (!isWhole(answer)) return false;
      if (answer !== 'hang' && answer.model === models[0]) return true;
    }
    return false;
  };

  /** The caller sees the model that answered, and pays for that one only. */
  const isAccountedFor = async ({ answer, mode }: Seen): Promise<boolean> => {
    const [, fallback] = namesOf({ id: 's16' }, mode);
    if (answer === 'hang' || answer.model !== aliasOf(fallback)) return false;
    const row = await loggedRequest(gateway.database, answer.requestId);
    return row.cost === row.prompt_tokens * 1 + row.completion_tokens * 2 && row.cost > 0;
  };

  const SCENARIOS: readonly Scenario[] = [
    {
      ...{ id: 's01', title: '429 with Retry-After, once' },
      required: atOnceAtMost(2, 800),
      advised: ({ primary }) => primary.length === 2 && primary[1]! - primary[0]! > 900,
    },
    {
      ...{ id: 's02', title: '429 without Retry-After, always' },
      required: (seen) => atOnceAtMost(4, 3_000)(seen) && atMost(6)(seen),
    },
    {
      ...{ id: 's03', title: '500 once' },
      advised: ({ primary, fallback }) => primary.length === 2 && fallback === 0,
    },
    { id: 's04', title: '503 always', required: atMost(6) },
    { id: 's05', title: 'reset before headers, once' },
    { id: 's06', title: 'no response at all', advised: atMost(1) },
    { id: 's07', title: 'first token late', advised: ({ fallback }) => fallback === 1 },
    { id: 's08', title: 'stream cut in mid-answer' },
    { id: 's09', title: 'stream stalls', required: isAlive },
    { id: 's10', title: 'malformed chunk in the stream', required: isAlive },
    {
      ...{ id: 's11', title: 'no [DONE] at the end' },
      advised: ({ answer }) => answer !== 'hang' && answer.hasUsage,
    },
    {
      id: 's12',
      title: 'context length exceeded',
      required: ({ primary }) => primary.length === 1,
    },
    {
      ...{ id: 's13', title: 'content filter refuses', isRefusal: true },
      required: ({ primary }) => primary.length === 1,
    },
    {
      ...{ id: 's14', title: 'cut, and the fallback refuses prefill', fallback: 'picky' },
      // The reported failure is the cut, not the refusal.
      required: ({ answer }) => answer !== 'hang' && answer.status === 200,
    },
    { id: 's15', title: 'down, then recovered', required: flap },
    { id: 's16', title: 'accounting of a fallback', required: isAccountedFor, advised: atMost(6) },
  ];
  /** Further faults with the same expectations. */
  const FURTHER: readonly Scenario[] = [
    { id: 'refused', title: 'connection refused' },
    { id: 'nowhere', title: 'an unknown host name' },
    { id: 'tls', title: 'no TLS where it is expected' },
    { id: 'unauthorized', title: '401', required: atMost(1) },
    { id: 'forbidden', title: '403', required: atMost(1) },
    { id: 'overloaded', title: '529' },
    { id: 'empty', title: 'an answer without content' },
    { id: 'nonsense', title: 'neither JSON nor a stream' },
    { id: 'silent', title: 'cut before any content' },
    { id: 'error', title: 'error event in the stream' },
    { id: 'endless', title: 'clean end without a finish reason' },
  ];
  const CUTS = ['s08', 's09', 's10', 's14', 'error', 'endless'];
  const DIALECTS: readonly CallerDialect[] = ['chat', 'messages', 'responses'];

  const judge = async (
    { isRefusal, required, advised }: Scenario,
    seen: Seen,
  ): Promise<Verdict> => {
    const { answer } = seen;
    if (answer === 'hang' || answer.ending === 'silent') return 'fail';
    const isAnswered = answer.ending === 'whole';
    if (isAnswered && answer.text !== WALL_TEXT) return 'fail';
    if (required && !(await required(seen))) return 'fail';
    if (isRefusal) return isAnswered ? 'partial' : 'pass';
    if (!isAnswered) return 'safe';
    return advised && !(await advised(seen)) ? 'partial' : 'pass';
  };
  const run = async (scenario: Scenario, mode: Mode): Promise<Verdict> => {
    const names = namesOf(scenario, mode);
    const answer = await ask(names.map(aliasOf), streamed(mode));
    const [primary, fallback] = names.map((name) => wall.of(name).map(({ atMs }) => atMs));
    return judge(scenario, { answer, primary: primary!, fallback: fallback!.length, mode });
  };
  const verdictsOf = async (scenarios: readonly Scenario[]): Promise<Record<Mode, Verdict>[]> => {
    const verdicts = await Promise.all(
      scenarios.map(async (scenario) => {
        const [off, any] = await Promise.all(MODES.map((mode) => run(scenario, mode)));
        return { off: off!, any: any! };
      }),
    );
    const line = (...cells: string[]): string => cells.map((cell) => cell.padEnd(14)).join('');
    const rows = scenarios.map(
      ({ id, title }, index) => line(id, verdicts[index]!.off, verdicts[index]!.any) + title,
    );
    process.stdout.write(
      `${[line('scenario', 'recovery off', 'recovery any'), ...rows].join('\n')}\n`,
    );
    return verdicts;
  };

  it('pass: all with recovery, and all but the broken streams honestly without', async () => {
    const verdicts = await verdictsOf(SCENARIOS);
    expect(verdicts).toHaveLength(16);
    expect(verdicts.map(({ any }) => any)).toEqual(SCENARIOS.map(() => 'pass'));
    const broken = ['s08', 's09', 's10', 's14'];
    expect(verdicts.map(({ off }) => off)).toEqual(
      SCENARIOS.map(({ id }) => (broken.includes(id) ? 'safe' : 'pass')),
    );
  });

  it('have further faults with the same results', async () => {
    const verdicts = await verdictsOf(FURTHER);
    expect(verdicts.map(({ any }) => any)).toEqual(FURTHER.map(() => 'pass'));
    expect(verdicts.map(({ off }) => off)).toEqual(
      FURTHER.map(({ id }) => (['error', 'endless'].includes(id) ? 'safe' : 'pass')),
    );
  });

  it('hold for streams and whole answers of every dialect', async () => {
    const check = async (dialect: CallerDialect, cut: string): Promise<void> => {
      const models = [`wall/${cut}-${dialect}`, cut === 's14' ? 'wall/picky' : 'wall/ok'];
      const checkMode = async (recovery: Mode): Promise<void> => {
        const [stream, whole] = await Promise.all([
          ask(models, { stream: true, recovery }, dialect),
          ask(models, { recovery }, dialect),
        ]);
        const ending = stream === 'hang' ? stream : stream.ending;
        const actual = { dialect, cut, recovery, ending, isWhole: isWhole(stream) };
        const isOn = recovery === 'any';
        const expected = { ending: isOn ? 'whole' : 'error', isWhole: isOn };
        expect(actual).toEqual({ dialect, cut, recovery, ...expected });
        expect(isWhole(whole)).toBe(true);
      };
      await Promise.all(MODES.map(checkMode));
    };
    // In parallel, since most of the time is spent waiting for stalled streams.
    await Promise.all(DIALECTS.flatMap((dialect) => CUTS.map((cut) => check(dialect, cut))));
  });

  describe('a resumed answer', () => {
    it('costs as much as one answer, whatever its vendors count, several at once', async () => {
      const random = new SeededRandom(22_600);
      const [before] = await readLedger(gateway.database);
      const count = { promptTokens: 5_000, completionTokens: 5_000 };
      wall.faults.set('dear', continuingAnswer(WALL_TEXT, count));
      let charged = 0;
      for (let round = 0; round < 2; round++) {
        const answers = await Promise.all(
          TORN.map((name) => {
            const cut = 1 + random.below(WALL_TEXT.length - 1);
            wall.faults.set(name, brokenAnswer(WALL_TEXT.slice(0, cut)));
            return ask([`wall/${name}`, 'wall/dear'], { ...streamed('any'), max_tokens: 100 });
          }),
        );
        expect(answers.map(isWhole)).toEqual(TORN.map(() => true));
        for (const answer of answers) {
          const row = await loggedRequest(gateway.database, (answer as ReadAnswer).requestId);
          // The vendor that continued is the more expensive one.
          expect(row.cost).toBe(row.prompt_tokens * 10 + row.completion_tokens * 20);
          // Within its hold.
          expect(row.completion_tokens).toBeLessThanOrEqual(100);
          expect(row.prompt_tokens).toBeLessThan(50);
          expect(row.vendor_cost).toBeGreaterThan(5_000 * 10);
          charged += row.cost;
        }
      }
      const [after] = await readLedger(gateway.database);
      expect(after).toMatchObject({ balance: before!.balance - charged, held: 0, holds: 0 });
      expect(await findLedgerFaults(gateway.database)).toEqual([]);
    });

    it('can be abandoned by its caller, which closes both calls', async () => {
      wall.faults.set('left', brokenAnswer(WALL_TEXT.slice(0, 120)));
      wall.faults.set('hush', hangAnswer);
      const caller = new AbortController();
      const [path, body] = questionIn('chat', {
        ...{ models: ['wall/left', 'wall/hush'], ...streamed('any') },
      });
      const response = await gateway.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: caller.signal,
      });
      await until(() => wall.of('hush').length === 1);
      caller.abort();
      await response.body!.cancel().catch(() => undefined);
      await wall.of('hush')[0]!.call.hungUp;
      const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'cancelled', usage_source: 'estimated' });
      expect(row.cost).toBe(row.prompt_tokens * 1 + row.completion_tokens * 2);
      const [after] = await readLedger(gateway.database);
      expect(after).toMatchObject({ held: 0, holds: 0 });
      expect(await findLedgerFaults(gateway.database)).toEqual([]);
    });

    it('is withheld when a guardrail finds a word across the continuation', async () => {
      const made = await gateway.post('/v1/customer/guardrails', {
        name: 'no nonsense',
        applies_to: ['output'],
        rules: [{ type: 'keyword', words: ['nonsense'] }],
      });
      const { id } = (await made.json()) as { id: string };
      const cut = WALL_TEXT.indexOf('nonsense') + 4;
      wall.faults.set('told', brokenAnswer(WALL_TEXT.slice(0, cut)));
      const answer = await ask(['wall/told', 'wall/ok'], streamed('any'));
      await gateway.fetch(`/v1/customer/guardrails/${id}`, { method: 'DELETE' });
      expect(answer).toMatchObject({ ending: 'error' });
      const { text } = answer as ReadAnswer;
      expect(WALL_TEXT.startsWith(text)).toBe(true);
      expect(text).not.toContain('nonsense');
      expect(await findLedgerFaults(gateway.database)).toEqual([]);
    });
  });

  describe('a tenant with recovery for all of its streams', () => {
    const set = (recovery: unknown, key: string): Promise<Response> =>
      gateway.fetch('/v1/customer/settings', {
        method: 'PATCH',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ recovery }),
      });
    /** Repeats the request until the failing model is tried first, since it may be cooling down. */
    const cut = async (fields: object = {}): Promise<ReadAnswer | 'hang'> => {
      for (;;) {
        const models = ['wall/s08-any', 'wall/ok'];
        const answer = await ask(models, { stream: true, ...fields });
        if (answer === 'hang' || answer.model === models[0]) return answer;
      }
    };

    it('sets it once, and a request may override it', async () => {
      expect(isWhole(await cut())).toBe(false);
      const changed = await set('any', gateway.managementKey);
      expect([changed.status, await changed.json()]).toEqual([
        200,
        { object: 'settings', recovery: 'any' },
      ]);
      await until(async () => isWhole(await cut()));
      expect(isWhole(await cut({ recovery: 'off' }))).toBe(false);
      // Within a model, which has no other route.
      expect(isWhole(await cut({ recovery: 'continue' }))).toBe(false);

      const path = `/v1/admin/tenants/${gateway.tenantId}/settings`;
      expect((await gateway.admin('PATCH', path, { recovery: 'off' })).status).toBe(200);
      const read = await gateway.fetch('/v1/customer/settings');
      expect(await read.json()).toEqual({ object: 'settings', recovery: 'off' });
      await until(async () => !isWhole(await cut()));
    });

    it.each([
      ['an unknown value', 'maybe', 400],
      ['nothing', undefined, 400],
      ['null', null, 400],
    ])('cannot set it to %s', async (_name, recovery, status) => {
      const refused = await set(recovery, gateway.managementKey);
      expect(refused.status).toBe(status);
      expect(await refused.json()).toMatchObject({ error: { param: 'recovery' } });
    });

    it('needs a management key, and must exist', async () => {
      expect((await set('any', gateway.apiKey)).status).toBe(403);
      for (const id of [randomUUID(), 'nobody']) {
        const path = `/v1/admin/tenants/${id}/settings`;
        expect((await gateway.admin('GET', path)).status).toBe(404);
        expect((await gateway.admin('PATCH', path, { recovery: 'any' })).status).toBe(404);
      }
    });
  });
});

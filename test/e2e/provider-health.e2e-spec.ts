import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import {
  errorAnswer,
  hangAnswer,
  sendJson,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
} from '../support/fake-openai.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { until } from '../support/until.js';

interface Provider {
  id: string;
  type: string;
  status: string;
  models_count: number;
  health?: Record<string, unknown>;
}

const CACHE_MS = 1_000;

const models: FakeAnswer = (_call, response) => sendJson(response, 200, { data: [] });

const ANSWERS: Record<string, FakeAnswer> = {
  quick: models,
  slow: async (call, response) => {
    await wait(700);
    await models(call, response);
  },
  failing: errorAnswer(500),
  refusing: errorAnswer(401),
  hanging: hangAnswer,
};

// A stalled machine makes a fast vendor slow. Probe results are cached for ten seconds.
jest.retryTimes(2, { waitBeforeRetry: 11_000 });

describe('GET /v1/providers?include_health=true', () => {
  const fakes: Record<string, FakeOpenAi> = {};
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    for (const [id, answer] of Object.entries(ANSWERS)) fakes[id] = await startFakeOpenAi(answer);
    const urls = Object.entries(fakes).map(([id, fake]) => [id, fake.baseUrl]);
    files = await writeOperatorFiles(
      { ...(Object.fromEntries(urls) as Record<string, string>), gone: 'http://127.0.0.1:9/v1' },
      [{ id: 'quick/a', pricing: { prompt: '0', completion: '0' } }],
    );
    gateway = await bootGateway({
      ...files.environment,
      GATEWAY_HEALTH_CACHE_MS: String(CACHE_MS),
    });
  });
  afterAll(async () => {
    await gateway.close();
    for (const fake of Object.values(fakes)) await fake.close();
    await files.remove();
  });
  beforeEach(() => {
    for (const fake of Object.values(fakes)) fake.calls.length = 0;
  });

  const list = async (query: string): Promise<Provider[]> => {
    const response = await gateway.fetch(`/v1/providers${query}`);
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: Provider[] }).data;
  };
  const probes = (): number[] => Object.values(fakes).map((fake) => fake.calls.length);

  it('probes no provider unless requested', async () => {
    for (const query of ['', '?include_health=false', '?include_health=1', '?include_health=']) {
      const providers = await list(query);
      expect(providers.map((provider) => provider.status)).toEqual(Array(7).fill('unknown'));
      expect(providers.filter((provider) => 'health' in provider)).toEqual([]);
    }
    expect(probes()).toEqual([0, 0, 0, 0, 0]);
  });

  it('reports health, probing each provider three times at once for all callers', async () => {
    const lists = Promise.all([list('?include_health=true'), list('?include_health=true')]);
    const { calls } = fakes.hanging!;
    await until(() => calls.length === 3);
    // None of them waited for another one's timeout.
    const isOver = calls[0]!.hungUp.then(() => true);
    expect(await Promise.race([isOver, Promise.resolve(false)])).toBe(false);
    const [providers, others] = await lists;
    expect(others).toEqual(providers);
    expect(probes()).toEqual([3, 3, 3, 3, 3]);
    expect(Object.fromEntries(providers.map(({ id, status }) => [id, status]))).toEqual({
      quick: 'healthy',
      slow: 'degraded',
      failing: 'unhealthy',
      refusing: 'unhealthy',
      hanging: 'unhealthy',
      gone: 'unhealthy',
      sandbox: 'healthy',
    });

    const [quick, slow, failing, , hanging] = providers;
    expect(quick).toEqual({
      id: 'quick',
      name: 'quick',
      type: 'openai',
      status: 'healthy',
      models_count: 1,
      health: {
        latency_p50: expect.any(Number),
        latency_p99: expect.any(Number),
        error_rate: 0,
        last_checked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    for (const { health } of providers) {
      expect(Number.isInteger(health?.latency_p50)).toBe(true);
      expect(Number.isInteger(health?.latency_p99)).toBe(true);
    }
    expect(slow?.health?.latency_p50).toBeGreaterThanOrEqual(690);
    expect(failing?.health?.error_rate).toBe(1);
    expect(hanging?.health).toMatchObject({ error_rate: 1 });
    expect(hanging?.health?.latency_p50).toBeGreaterThanOrEqual(1_900);
  });

  it('caches results for a while, then probes again', async () => {
    const [first] = await list('?include_health=true&type=openai');
    const [again] = await list('?include_health=true&type=openai');
    expect(again?.health).toEqual(first?.health);
    await wait(CACHE_MS);
    fakes.quick!.calls.length = 0;
    const [later] = await list('?include_health=true');
    expect(fakes.quick!.calls).toHaveLength(3);
    expect(later?.health?.last_checked_at).not.toBe(first?.health?.last_checked_at);
  });

  it('filters by type and probes only those', async () => {
    expect(await list('?include_health=true&type=gcp')).toEqual([]);
    expect(await list('?include_health=true&type=nonsense')).toEqual([]);
    expect(probes()).toEqual([0, 0, 0, 0, 0]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';

describe('a process that falls quiet after a load', () => {
  let folder: string;
  let gateway: SpawnedGateway;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-idle-'));
    gateway = await spawnGateway({ GATEWAY_DATA_DIR: folder });
  });
  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('collects its garbage and answers as before', async () => {
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(`${gateway.url}/healthz`)));
    }
    // A check every 5 s, of which the second finds it quiet.
    await wait(11_000);
    const startedMs = performance.now();
    const response = await fetch(`${gateway.url}/healthz`, { signal: AbortSignal.timeout(30_000) });
    expect(response.status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(await gateway.stop()).toBe(0);
  });
});

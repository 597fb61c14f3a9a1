import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { spawnGateway, type SpawnedGateway } from '../support/spawn-gateway.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const API_KEY = 'sk-responses-crash-key-01';
const CONVERSATIONS = 12;
const KILLS = 2;

interface Turn {
  id: string;
  /** Words that the sandbox has received and sent so far. */
  words: number;
}

describe('a service killed between the turns of conversations', () => {
  let database: TestDatabase;
  let dataDirectory: string;
  let gateway: SpawnedGateway | undefined;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-responses-crash-'));
    await chmod(dataDirectory, 0o711);
  });
  afterEach(async () => {
    await gateway?.stop('SIGKILL');
  });
  afterAll(async () => {
    await database.drop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  const start = (): Promise<SpawnedGateway> =>
    spawnGateway({
      DATABASE_URL: database.url,
      GATEWAY_DATA_DIR: dataDirectory,
      GATEWAY_SECRET: 'a-secret-for-tests-of-enough-length',
      GATEWAY_BOOTSTRAP_API_KEY: API_KEY,
      GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: '100000',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      GATEWAY_SANDBOX: 'true',
      // The weaker of the two settings: stored responses must not depend on it.
      GATEWAY_SETTLE: 'after-response',
    });

  /** Sends the next turn as a stream; undefined when its end did not arrive. */
  const speak = async (url: string, last: Turn | undefined): Promise<Turn | undefined> => {
    try {
      const answer = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'sandbox/echo',
          input: 'a few words of it',
          stream: true,
          ...(last && { previous_response_id: last.id }),
        }),
      });
      const text = await answer.text();
      const completed = /^event: response\.completed\ndata: (.*)$/m.exec(text)?.[1];
      if (completed === undefined) return undefined;
      const { response } = JSON.parse(completed) as {
        response: { id: string; usage: { total_tokens: number } };
      };
      return { id: response.id, words: response.usage.total_tokens };
    } catch {
      return undefined;
    }
  };

  it('has every response whose end a caller saw, and continues it', async () => {
    const turns: (Turn | undefined)[] = Array.from({ length: CONVERSATIONS });
    let seen = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const running = (gateway = await start());
      let isDown = false;
      const converse = async (index: number): Promise<void> => {
        while (!isDown) {
          const last = turns[index];
          const next = await speak(running.url, last);
          if (!next) continue;
          // Every turn but the first includes the earlier ones.
          if (last) expect(next.words).toBeGreaterThan(last.words);
          turns[index] = next;
          seen++;
        }
      };
      const conversations = turns.map((_, index) => converse(index));
      const wanted = seen + 60;
      await until(() => seen >= wanted);
      await running.stop('SIGKILL');
      isDown = true;
      await Promise.all(conversations);
    }
    gateway = await start();
    for (const turn of turns) {
      if (!turn) continue;
      const read = await fetch(`${gateway.url}/v1/responses/${turn.id}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      expect(read.status).toBe(200);
      expect(await speak(gateway.url, turn)).toMatchObject({ words: turn.words + 12 });
    }
    // Stored responses were charged in the same transaction.
    const { rows } = await database.database.query(
      `SELECT stored_responses.id FROM stored_responses LEFT JOIN request_logs USING (request_id)
       WHERE outcome IS DISTINCT FROM 'completed'`,
    );
    expect(rows).toEqual([]);
    expect(await findLedgerFaults(database.database)).toEqual([]);
  });
});

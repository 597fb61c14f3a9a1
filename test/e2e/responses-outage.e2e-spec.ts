import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI from 'openai';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { respond, streamEvents, writeEvent } from '../support/fake-responses.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

const MODEL = 'openai/gpt-4o-mini';

describe('a response during a database outage', () => {
  let own: TestDatabase;
  let proxy: TcpProxy;
  let fake: FakeOpenAi;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    own = await createTestDatabase();
    proxy = await TcpProxy.before(own.url);
    fake = await startFakeOpenAi();
    gateway = await bootGateway(
      {
        DATABASE_URL: proxy.inFrontOf(own.url),
        OPENAI_API_KEY: 'sk-vendor-key',
        OPENAI_BASE_URL: fake.baseUrl,
        // Does not wait for charges, but for storing responses.
        GATEWAY_SETTLE: 'after-response',
      },
      { database: own },
    );
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.cut();
    await fake.close();
    await own.drop();
  });

  it('ends within seconds, reports that it is not stored, and is charged later', async () => {
    fake.answer = async (call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = streamEvents(call);
      for (const event of events.slice(0, 5)) writeEvent(response, event);
      await wait(50);
      await proxy.cut();
      for (const event of events.slice(5)) writeEvent(response, event);
      response.end();
    };
    const startedMs = performance.now();
    const final = await client.responses.stream({ model: MODEL, input: 'Hi' }).finalResponse();
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(final).toMatchObject({
      status: 'completed',
      store: false,
      output_text: 'Hello from the fake.',
    });

    await proxy.open();
    const rows = async (): Promise<unknown[]> =>
      (await own.database.query("SELECT id FROM request_logs WHERE outcome = 'completed'")).rows;
    await until(async () => (await rows()).length > 0);
    expect(await rows()).toHaveLength(1);
    fake.answer = respond();
    const next = await client.responses.create({ model: MODEL, input: 'Hi' });
    expect(next).toMatchObject({ store: true });
    expect(await client.responses.retrieve(next.id)).toEqual(next);
  });
});

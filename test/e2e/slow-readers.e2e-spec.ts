import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from '../support/fake-openai.js';
import { loggedRequest } from '../support/logged-request.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { CHAT } from '../support/paths.js';
import { delta, DONE, finish } from '../support/vendor-stream.js';

/** Long enough to fill all socket buffers well before half of it. */
const REQUEST_MS = 4_000;
const pricing = { prompt: '0.000001', completion: '0.000002' };

describe('a caller that reads too slowly for the request timeout', () => {
  let one: FakeOpenAi;
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    one = await startFakeOpenAi();
    const routes = [
      { provider: 'one', model: 'a', priority: 0, timeouts: { request_ms: REQUEST_MS } },
    ];
    files = await writeOperatorFiles({ one: one.baseUrl }, [{ id: 'one/a', pricing, routes }]);
    gateway = await bootGateway({
      ...files.environment,
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    });
  });
  afterAll(async () => {
    await gateway.close();
    await one.close();
    await files.remove();
  });

  it('gets an error, and is charged for the received output', async () => {
    one.answer = async (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await pour(response);
    };
    const { requestId, tail } = await readSlowly();
    expect(tail).toContain('"finish_reason":"error"');
    expect(tail).toMatch(/"type":"timeout_error","code":504/);
    const row = await loggedRequest(gateway.database, requestId);
    expect(row).toMatchObject({ outcome: 'cancelled', error_type: null });
    expect(row.cost).toBeGreaterThan(1_000);
  });

  /** Sends more than all socket buffers hold. */
  async function pour(response: ServerResponse): Promise<void> {
    const piece = delta({ content: 'z'.repeat(64_000) });
    for (let sent = 0; sent < 1_000 && !response.destroyed; sent++) {
      if (!response.write(piece)) await once(response, 'drain');
    }
    response.end(finish() + DONE);
  }

  async function readSlowly(): Promise<{ requestId: string; tail: string }> {
    const request = httpRequest(gateway.url + CHAT, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.apiKey}`,
        'content-type': 'application/json',
      },
    });
    const messages = [{ role: 'user', content: 'Hello' }];
    request.end(JSON.stringify({ model: 'one/a', messages, stream: true }));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await wait(REQUEST_MS * 1.1);
    let tail = '';
    const readRest = async (): Promise<void> => {
      for await (const chunk of response) tail = (tail + (chunk as Buffer).toString()).slice(-600);
    };
    await expect(readRest()).rejects.toThrow('aborted');
    return { requestId: response.headers['x-request-id'] as string, tail };
  }
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

describe('GET /v1/customer/webhook-secret', () => {
  let service: BootedGateway;
  beforeAll(async () => {
    service = await bootGateway();
  });
  afterAll(() => service.close());

  it("gives the tenant's secret to its keys, the same one to each", async () => {
    const answer = await service.fetch('/v1/customer/webhook-secret');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const body = (await answer.json()) as { secret: string };
    expect(body).toEqual({ secret: expect.stringMatching(/^whsec_[\w-]{43}$/) });
    const other = await service.fetch('/v1/customer/webhook-secret', {
      headers: { authorization: `Bearer ${service.managementKey}` },
    });
    expect(await other.json()).toEqual(body);
  });

  it('needs a key', async () => {
    expect((await fetch(`${service.url}/v1/customer/webhook-secret`)).status).toBe(401);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../common/database/database.js';
import { WebhookSecrets } from './webhook-secrets.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const OTHER = 'another-secret-of-32-characters-or-so';

/** The rest, with a row of a tenant, is in test/int/webhooks.int-spec.ts. */
describe(WebhookSecrets.name, () => {
  let kept: unknown[][];
  const secretsFrom = (...secrets: string[]) => {
    const query = (_sql: string, values: unknown[]) => {
      if (values.length > 1) kept.push(values);
      const last = kept.at(-1);
      const rows = last ? [{ sealedSecret: last[1], sealedPrevious: null }] : [];
      return Promise.resolve({ rows });
    };
    return new WebhookSecrets(() => secrets, { query } as unknown as Pick<Database, 'query'>);
  };
  beforeEach(() => {
    kept = [];
  });

  it('gives a secret that is kept, and the same while GATEWAY_SECRET is rotated', async () => {
    const secret = await secretsFrom(SECRET).secretOf('tenant');
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(kept).toHaveLength(1);
    expect(await secretsFrom(OTHER, SECRET).secretOf('tenant')).toBe(secret);
    expect(kept).toHaveLength(1);
    expect(await secretsFrom(OTHER).secretOf('tenant')).toBeUndefined();
    kept = [];
    expect(await secretsFrom(OTHER, SECRET).secretOf('tenant')).toBe(secret);
    kept = [];
    expect(await secretsFrom(OTHER).secretOf('tenant')).not.toBe(secret);
  });

  it('signs the time and the body, for each tenant otherwise', async () => {
    const at = 1_700_000_000_999;
    const sign = (tenantId: string, body: string) => secretsFrom(SECRET).sign(tenantId, body, at);
    expect(await sign('tenant-1', '{}')).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
    expect(await sign('tenant-1', '{}')).not.toBe(await sign('tenant-1', '{ }'));
    expect(await sign('tenant-1', '{}')).not.toBe(await sign('tenant-2', '{}'));
    expect(kept).toHaveLength(0);
  });
});

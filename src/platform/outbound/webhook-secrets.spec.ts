import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../database/database.js';
import { WebhookSecrets } from './webhook-secrets.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const OTHER = 'another-secret-of-32-characters-or-so';

/** Tests with a tenant's row are in test/int/webhooks.int-spec.ts. */
describe(WebhookSecrets.name, () => {
  let kept: Buffer | undefined;
  const secretsFrom = (...secrets: string[]) => {
    const query = (sql: string, [, encrypted]: Buffer[][]) => {
      if (sql.startsWith('INSERT')) kept ??= encrypted![0];
      return Promise.resolve({
        rows: kept ? [{ encryptedSecret: kept, encryptedPrevious: null }] : [],
      });
    };
    return new WebhookSecrets(() => secrets, { query } as unknown as Pick<Database, 'query'>);
  };
  beforeEach(() => {
    kept = undefined;
  });

  it('returns a stored secret, unchanged while GATEWAY_SECRET is rotated', async () => {
    const secret = await secretsFrom(SECRET, OTHER).secretOf('tenant');
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(await secretsFrom(OTHER, SECRET).secretOf('tenant')).toBe(secret);
    expect(await secretsFrom(OTHER).secretOf('tenant')).toBeUndefined();
    expect(await secretsFrom(OTHER).sign('tenant', '{}')).toBeUndefined();
    kept = undefined;
    expect(await secretsFrom(SECRET).secretOf('tenant')).toBe(secret);
    kept = undefined;
    expect(await secretsFrom(OTHER, SECRET).secretOf('tenant')).not.toBe(secret);
  });

  it('signs the time and the body, differently for each tenant', async () => {
    const at = 1_700_000_000_999;
    const sign = (tenantId: string, body: string) => {
      kept = undefined;
      return secretsFrom(SECRET).sign(tenantId, body, at);
    };
    expect(await sign('tenant-1', '{}')).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
    expect(await sign('tenant-1', '{}')).toBe(await sign('tenant-1', '{}'));
    expect(await sign('tenant-1', '{}')).not.toBe(await sign('tenant-1', '{ }'));
    expect(await sign('tenant-1', '{}')).not.toBe(await sign('tenant-2', '{}'));
  });
});

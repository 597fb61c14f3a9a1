import { describe, expect, it } from '@jest/globals';
import { WebhookSecrets } from './webhook-secrets.js';

const secrets = new WebhookSecrets('a-secret-of-at-least-32-characters');

describe(WebhookSecrets.name, () => {
  it('gives each tenant a secret of its own, the same each time', () => {
    expect(secrets.secretOf('tenant-1')).toMatch(/^whsec_[\w-]{43}$/);
    expect(secrets.secretOf('tenant-1')).toBe(secrets.secretOf('tenant-1'));
    expect(secrets.secretOf('tenant-1')).not.toBe(secrets.secretOf('tenant-2'));
    expect(secrets.secretOf('tenant-1')).not.toBe(
      new WebhookSecrets('another-secret-of-32-characters-or-so').secretOf('tenant-1'),
    );
  });

  it('signs the time and the body', () => {
    const at = 1_700_000_000_999;
    expect(secrets.sign('tenant-1', '{}', at)).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/);
    expect(secrets.sign('tenant-1', '{}', at)).not.toBe(secrets.sign('tenant-1', '{ }', at));
    expect(secrets.sign('tenant-1', '{}', at)).not.toBe(secrets.sign('tenant-2', '{}', at));
  });
});

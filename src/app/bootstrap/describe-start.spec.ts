import { describe, expect, it } from '@jest/globals';
import type { BootstrapOutcome } from './bootstrap.service.js';
import { describeFirstKeys } from './describe-start.js';

describe(describeFirstKeys.name, () => {
  it('shows keys that were made at this start', () => {
    const created = { apiKey: 'sk-one', managementKey: 'sk-mgmt-two' };
    const text = describeFirstKeys({ kind: 'created', created }).join('\n');
    expect(text).toContain('sk-one');
    expect(text).toContain('sk-mgmt-two');
  });

  it.each([
    ['with the other keys', { apiKey: 'sk-one', managementKey: 'sk-mgmt-two' }],
    ['where tenants were before', undefined],
  ])("shows an operator's key that was made at this start %s", (_, created) => {
    const bootstrap: BootstrapOutcome = created
      ? { kind: 'created', created, adminKey: 'sk-admin-three' }
      : { kind: 'earlier', created, adminKey: 'sk-admin-three' };
    const text = describeFirstKeys(bootstrap).join('\n');
    expect(text).toContain('Admin key:      sk-admin-three');
    expect(text.match(/this once/g)).toHaveLength(1);
  });

  it('says how to get a key when they were made on an earlier start', () => {
    const text = describeFirstKeys({ kind: 'earlier', created: undefined }).join('\n');
    expect(text).toContain('earlier start');
    expect(text).toContain('npm run gateway -- key create default');
  });
});

import { describe, expect, it } from '@jest/globals';
import type { BootstrapOutcome } from './bootstrap.service.js';
import { describeFirstKeys, describeStart } from './describe-start.js';

describe(describeFirstKeys.name, () => {
  it('shows keys created at this start', () => {
    const created = { apiKey: 'sk-one', managementKey: 'sk-mgmt-two' };
    const text = describeFirstKeys({ kind: 'created', created }).join('\n');
    expect(text).toContain('sk-one');
    expect(text).toContain('sk-mgmt-two');
  });

  it.each([
    ['with tenant keys', { apiKey: 'sk-one', managementKey: 'sk-mgmt-two' }],
    ['when tenants existed before', undefined],
  ])('shows an admin key created at this start %s', (_, created) => {
    const bootstrap: BootstrapOutcome = created
      ? { kind: 'created', created, adminKey: 'sk-admin-three' }
      : { kind: 'earlier', created, adminKey: 'sk-admin-three' };
    const text = describeFirstKeys(bootstrap).join('\n');
    expect(text).toContain('Admin key:      sk-admin-three');
    expect(text.match(/this once/g)).toHaveLength(1);
  });

  it('explains how to create a key when keys were created on an earlier start', () => {
    const text = describeFirstKeys({ kind: 'earlier', created: undefined }).join('\n');
    expect(text).toContain('earlier start');
    expect(text).toContain('npm run gateway -- key create default');
  });
});

describe(describeStart.name, () => {
  const started = {
    url: 'http://127.0.0.1:3000',
    host: '127.0.0.1',
    bootstrap: { kind: 'earlier', created: undefined },
    providers: [],
    exampleModel: undefined,
  } as const;

  it('prints a login link when one was created at this start', () => {
    const bootstrap = { ...started.bootstrap, adminKey: 'sk-admin-one', loginToken: 'two' };
    const shown = describeStart({ ...started, bootstrap, hasConsole: true });
    expect(shown).toContain('once, within 10 minutes');
    expect(shown).toContain('\n  http://127.0.0.1:3000/console/login#link=two\n');
    expect(describeStart({ ...started, bootstrap, hasConsole: false })).not.toContain('two');
    expect(describeStart({ ...started, hasConsole: true })).not.toContain('logs you in');
  });

  it.each([
    [true, 1],
    [false, 0],
  ])('prints the console URL only when there is a console: %s', (hasConsole, count) => {
    const lines = describeStart({ ...started, hasConsole }).split('\n');
    const ofConsole = lines.filter((line) => line === 'Console: http://127.0.0.1:3000/console');
    expect(ofConsole).toHaveLength(count);
  });
});

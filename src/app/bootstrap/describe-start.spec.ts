import { describe, expect, it } from '@jest/globals';
import type { BootstrapOutcome } from './bootstrap.service.js';
import { describeFirstKeys, describeStart } from './describe-start.js';

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

describe(describeStart.name, () => {
  const started = {
    url: 'http://127.0.0.1:3000',
    host: '127.0.0.1',
    bootstrap: { kind: 'earlier', created: undefined },
    providers: [],
    exampleModel: undefined,
  } as const;

  it('tells of a link that logs in, where one was made at this start', () => {
    const bootstrap = { ...started.bootstrap, adminKey: 'sk-admin-one', loginToken: 'two' };
    const told = describeStart({ ...started, bootstrap, hasConsole: true });
    expect(told).toContain('once and within 10 minutes');
    expect(told).toContain('\n  http://127.0.0.1:3000/console/login#link=two\n');
    expect(describeStart({ ...started, bootstrap, hasConsole: false })).not.toContain('two');
    expect(describeStart({ ...started, hasConsole: true })).not.toContain('logs you in');
  });

  it.each([
    [true, 1],
    [false, 0],
  ])('tells where the console is, if there is one: %s', (hasConsole, count) => {
    const lines = describeStart({ ...started, hasConsole }).split('\n');
    const ofConsole = lines.filter((line) => line === 'Console: http://127.0.0.1:3000/console');
    expect(ofConsole).toHaveLength(count);
  });
});

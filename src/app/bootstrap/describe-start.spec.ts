import { describe, expect, it } from '@jest/globals';
import { describeFirstKeys } from './describe-start.js';

describe(describeFirstKeys.name, () => {
  it('shows keys that were made at this start', () => {
    const created = { apiKey: 'sk-one', managementKey: 'sk-mgmt-two' };
    const text = describeFirstKeys({ kind: 'created', created }).join('\n');
    expect(text).toContain('sk-one');
    expect(text).toContain('sk-mgmt-two');
  });

  it('says how to get a key when they were made on an earlier start', () => {
    const text = describeFirstKeys({ kind: 'earlier', created: undefined }).join('\n');
    expect(text).toContain('earlier start');
    expect(text).toContain('npm run gateway -- key create default');
  });
});

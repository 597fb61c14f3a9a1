import { describe, expect, it } from '@jest/globals';
import type { AppConfig } from '../../platform/config/app-config.js';
import { readDocument } from './config-document.js';

describe(readDocument, () => {
  const read = (models: object[]) => readDocument({ models }, {} as AppConfig).models;
  const row = (id: string) => ({ id, removed: true });

  it('rejects duplicate models', () => {
    expect(() => read([row('a/b'), row('a/c'), row('a/b')])).toThrow('models: a/b appears twice');
  });

  it.each([
    [{ base_url: 'http://name@host/v1' }, 'providers.own.base_url'],
    [{ base_url: 'http://:word@host/v1' }, 'providers.own.base_url'],
    [
      { accounts: [{ id: 'a', base_url: 'http://name:word@host/v1', api_key: 'k'.repeat(20) }] },
      'providers.own.accounts.0.base_url',
    ],
  ])('refuses credentials in addresses: %j', (fields, param) => {
    const providers = [{ id: 'own', name: 'Own', base_url: 'http://host/v1', ...fields }];
    expect(() => readDocument({ providers }, {} as AppConfig)).toThrow(
      expect.objectContaining({
        param,
        message: expect.stringContaining('must not contain credentials'),
      }),
    );
  });

  it('reads tens of thousands of models in linear time', () => {
    const models = Array.from({ length: 30_000 }, (_, index) => row(`maker/model-${index}`));
    const startedMs = performance.now();
    expect(read(models)).toHaveLength(30_000);
    // A quadratic search took 7 s.
    expect(performance.now() - startedMs).toBeLessThan(2_500);
  });
});

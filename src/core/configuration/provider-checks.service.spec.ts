import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { ProbeCall, Probed, Upstream } from '../../vendors/upstream.js';
import type { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { CatalogueService } from '../catalogue/catalogue.service.js';
import type { ConfigurationService } from './configuration.service.js';
import { ProviderChecks, type ProviderCheck } from './provider-checks.service.js';

type Probe = (call: ProbeCall) => Promise<Probed>;

describe(ProviderChecks.name, () => {
  let providers: Partial<ProviderConfig>[];
  let upstreams: Map<string, Partial<Upstream>>;
  let asked: string[];
  let told: (readonly ProviderCheck[])[];
  let changed: () => void;
  let checks: ProviderChecks;

  const put = (name: string, probe: Probe, more: Partial<Upstream> = {}): void => {
    upstreams.set(name, {
      probe: (call) => {
        asked.push(name);
        return probe(call);
      },
      ...more,
    });
  };
  const make = (checksKeys: boolean): ProviderChecks =>
    new ProviderChecks(
      { checksKeys },
      {
        get providers() {
          return providers;
        },
        has: (id: string) => providers.some((each) => each.id === id),
        get: (id: string, account?: string) => upstreams.get(account ? `${id}@${account}` : id),
      } as unknown as UpstreamRegistry,
      {
        models: [
          chatModel('one/a', [modelRoute('one', { upstreamModel: 'a' })]),
          chatModel('one/b', [modelRoute('one', { upstreamModel: 'b-latest' })]),
          chatModel('two/c', [modelRoute('two'), modelRoute('one', { upstreamModel: 'c' })]),
        ],
      } as unknown as CatalogueService,
      {
        onChange: (listener: () => void) => (changed = listener),
      } as unknown as ConfigurationService,
    );
  const begin = (): Promise<void> => checks.begin((done) => told.push(done));
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    upstreams = new Map();
    asked = [];
    told = [];
    providers = [{ id: 'one', name: 'One', apiKey: 'key' }];
    checks = make(true);
  });
  afterEach(() => checks.onApplicationShutdown());

  it('makes no calls when disabled', async () => {
    put('one', async () => ['a']);
    checks = make(false);
    await begin();
    expect([asked, told, checks.of('one')]).toEqual([[], [], []]);
  });

  it('reports which catalogue models a key can see, by name or dated version', async () => {
    put('one', async () => ['a-2026-01-02', 'b', 'other']);
    await begin();
    expect(told).toEqual([checks.of('one')]);
    expect(checks.of('one')).toEqual([
      expect.objectContaining({
        provider: 'one',
        account: undefined,
        check: expect.objectContaining({ outcome: 'ok', modelsSeen: 3 }),
        catalogue: { total: 3, seen: 2, missing: ['two/c'] },
      }),
    ]);
  });

  it('checks each account of a pool against its own models', async () => {
    const accounts = [
      { id: 'x', apiKey: 'key', weight: 1, models: ['one/*'] },
      { id: 'y', apiKey: 'other', weight: 1 },
    ];
    providers = [{ ...providers[0], accounts }];
    put('one@x', async () => ['a', 'b']);
    put('one@y', () => {
      throw new UpstreamError({ failure: 'operator', status: 401, message: 'no' });
    });
    await begin();
    expect(
      checks.of('one').map(({ account, check, catalogue }) => [account, check.outcome, catalogue]),
    ).toEqual([
      ['x', 'ok', { total: 2, seen: 2, missing: [] }],
      ['y', 'refused', null],
    ]);
  });

  it('skips providers without a key, and reports those that cannot be checked', async () => {
    providers.push({ id: 'inside', name: 'Inside' }, { id: 'open', name: 'Open', apiKey: 'key' });
    put('one', async () => undefined);
    put('inside', async () => undefined, { keyIs: 'unneeded' });
    put('open', async () => 7, { keyIs: 'unproven' });
    await begin();
    expect(asked).toEqual(['one', 'open']);
    expect(told[0]!.map(({ check }) => [check.outcome, check.modelsSeen])).toEqual([
      ['ok', null],
      ['unchecked', 7],
    ]);
  });

  it('checks only changed accounts again, and forgets removed ones', async () => {
    put('one', async () => ['a']);
    await begin();
    changed();
    await settled();
    expect(asked).toEqual(['one']);

    providers.push({ id: 'two', name: 'Two', apiKey: 'key' });
    put('two', async () => ['x']);
    changed();
    await settled();
    expect(asked).toEqual(['one', 'two']);
    expect(told.map((each) => each.map(({ provider }) => provider))).toEqual([['one'], ['two']]);

    // A different key has a different adapter.
    put('one', async () => ['a', 'b']);
    expect(checks.of('one')).toEqual([]);
    changed();
    await settled();
    expect(checks.of('one')).toHaveLength(1);
    providers.shift();
    expect(checks.of('one')).toEqual([]);
  });

  it('stops with the service and reports nothing after', async () => {
    put(
      'one',
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('over'))),
        ),
    );
    const checking = begin();
    await settled();
    checks.onApplicationShutdown();
    await checking;
    expect(told).toEqual([]);
  });
});

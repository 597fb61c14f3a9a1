import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { inspect } from 'node:util';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import type { CredentialDirectory } from './credential-directory.service.js';
import { CredentialCipher } from './credential-cipher.service.js';
import type { CredentialUseLog } from './credential-use.log.js';
import { ByokCredential } from './credential.repository.js';
import { ByokUpstreams, type ByokAccess, ByokTransport } from './byok-upstreams.service.js';

const SECRET = 'a-secret-of-at-least-32-characters';

function providerOf(id: string, adapter: string): ProviderConfig {
  return { id, name: id, adapter, type: 'openai', baseUrl: '', apiKey: undefined, settings: {} };
}

function setUp() {
  const cipher = new CredentialCipher({
    secret: SECRET,
    secretFile: undefined,
    previousSecrets: [],
    dataDirectory: '',
  });
  const made: { provider: ProviderConfig; transport: unknown }[] = [];
  const uses: string[] = [];
  const stored: ByokCredential[] = [];
  const afterForget: ByokCredential[] = [];
  const transport = new ByokTransport(1_000);
  const upstreams = new ByokUpstreams(
    {
      ownAccountProviders: [providerOf('one', 'openai'), providerOf('azure', 'azure')],
    },
    {
      create: (provider: ProviderConfig, own: unknown) => {
        made.push({ provider, transport: own });
        return { made: made.length };
      },
    } as unknown as UpstreamRegistry,
    cipher,
    {
      of: () => stored,
      forget: () => void stored.push(...afterForget.splice(0)),
    } as unknown as CredentialDirectory,
    transport,
    { record: (id: string) => uses.push(id) } as unknown as CredentialUseLog,
  );
  const credential = (id: string, provider = 'one', settings: Record<string, string> = {}) =>
    new ByokCredential({
      id,
      provider,
      allowSharedFallback: false,
      settings,
      encryptedKey: cipher.encrypt(`key of ${id}`, id),
    });
  const accessOf = (id: string): ByokAccess => ({
    credential: credential(id),
    hasTenantAddress: false,
  });
  return { upstreams, made, uses, stored, afterForget, credential, accessOf, transport, cipher };
}

describe(ByokUpstreams.name, () => {
  beforeAll(() => void jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined));
  afterAll(() => void jest.restoreAllMocks());

  it('creates one adapter per credential with its key, and records each use', () => {
    const { upstreams, made, uses, accessOf } = setUp();
    const first = upstreams.use(accessOf('a'));
    expect(upstreams.use(accessOf('a'))).toBe(first);
    expect(upstreams.use(accessOf('b'))).not.toBe(first);
    expect(made.map(({ provider }) => provider.apiKey)).toEqual(['key of a', 'key of b']);
    expect(made[0]!.transport).toBeUndefined();
    expect(uses).toEqual(['a', 'a', 'b']);
  });

  it('uses the dedicated transport for tenant-defined addresses', async () => {
    const { upstreams, made, stored, credential, transport } = setUp();
    stored.push(credential('a', 'azure', { endpoint: 'https://me.example' }), credential('b'));
    const accesses = await upstreams.of({ tenantId: 'tenant', apiKeyId: 'key' });
    expect(accesses.map(({ hasTenantAddress }) => hasTenantAddress)).toEqual([true, false]);
    upstreams.use(accesses[0]!);
    expect(made[0]).toMatchObject({ provider: { baseUrl: 'https://me.example' } });
    expect(made[0]!.transport).toBe(transport);
  });

  it('omits accounts with providers that no longer accept them', async () => {
    const { upstreams, stored, credential } = setUp();
    stored.push(credential('a', 'gone'), credential('b'));
    expect(
      (await upstreams.of({ tenantId: 'tenant', apiKeyId: 'key' })).map(
        ({ credential: { id } }) => id,
      ),
    ).toEqual(['b']);
  });

  it('pools the accounts with a provider where one has a weight or limit', async () => {
    const { upstreams, stored, cipher } = setUp();
    const account = (
      id: string,
      fields: Partial<ConstructorParameters<typeof ByokCredential>[0]>,
    ) =>
      new ByokCredential({
        id,
        provider: 'one',
        allowSharedFallback: false,
        settings: {},
        encryptedKey: cipher.encrypt(`key of ${id}`, id),
        ...fields,
      });
    const share = { weight: null, requestsPerMinute: 60, tokensPerMinute: null };
    stored.push(
      account('limited', { share }),
      account('plain', {}),
      account('other', { provider: 'azure', settings: { endpoint: 'https://me.example' } }),
      account('of a routing key', { scopeKeyId: 'key' }),
    );
    const accesses = await upstreams.of({ tenantId: 'tenant', apiKeyId: 'key' });
    expect(accesses.map(({ member }) => member)).toEqual([
      expect.objectContaining({ key: 'limited', weight: 1, requestsPerMinute: 60 }),
      expect.objectContaining({ key: 'plain', weight: 1, requestsPerMinute: undefined }),
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(accesses)).not.toContain('key of');
    // The weight of a credential stored by a routing key draws no requests from the others.
    const weight = { ...share, requestsPerMinute: null, weight: 1_000 };
    stored.splice(
      0,
      4,
      account('plain', {}),
      account('late', { scopeKeyId: 'key', share: weight }),
    );
    const apart = await upstreams.of({ tenantId: 'tenant', apiKeyId: 'key' });
    expect(apart.map(({ member }) => member?.weight)).toEqual([undefined, 1_000]);
  });

  it('keeps a bounded number of adapters, the most recently used', () => {
    const { upstreams, made, accessOf } = setUp();
    upstreams.use(accessOf('first'));
    for (let index = 1; index < 1_000; index++) upstreams.use(accessOf(`${index}`));
    upstreams.use(accessOf('first'));
    upstreams.use(accessOf('one too many'));
    expect(made).toHaveLength(1_001);
    upstreams.use(accessOf('first'));
    expect(made).toHaveLength(1_001);
    upstreams.use(accessOf('1'));
    expect(made).toHaveLength(1_002);
  });

  it('drops the adapter of a deleted credential', () => {
    const { upstreams, made, accessOf } = setUp();
    upstreams.use(accessOf('a'));
    upstreams.drop('a');
    upstreams.use(accessOf('a'));
    expect(made).toHaveLength(2);
  });

  it('finds the account of earlier work, even one stored just now', async () => {
    const { upstreams, stored, afterForget, credential } = setUp();
    stored.push(credential('a'));
    expect(await upstreams.find('tenant', 'a')).toBeDefined();
    expect(await upstreams.find('tenant', 'b')).toBeUndefined();
    afterForget.push(credential('c'));
    expect((await upstreams.find('tenant', 'c'))?.credential.id).toBe('c');
  });

  it('fails like a rejected account when a key cannot be decrypted or its settings are invalid', () => {
    const { upstreams, credential } = setUp();
    const moved = new ByokCredential({
      id: 'other',
      provider: 'one',
      allowSharedFallback: false,
      settings: {},
      encryptedKey: credential('a').encryptedKey(),
    });
    for (const bad of [moved, credential('b', 'azure')]) {
      expect(() => upstreams.use({ credential: bad, hasTenantAddress: false })).toThrow(
        UpstreamError,
      );
      expect(() => upstreams.use({ credential: bad, hasTenantAddress: false })).toThrow(
        'the stored credential cannot be used',
      );
    }
  });

  it('does not print a credential’s key', () => {
    const { credential } = setUp();
    const printed =
      inspect(credential('a'), { depth: 9, showHidden: true }) + JSON.stringify(credential('a'));
    expect(printed).toContain('one');
    expect(printed.toLowerCase()).not.toContain('encrypted');
  });
});

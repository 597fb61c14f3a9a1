import { describe, expect, it } from '@jest/globals';
import type { ProviderConfig } from '../platform/config/app-config.js';
import { ownAccountProviders, readVendors } from '../platform/config/configured-providers.js';
import type { HttpTransport } from './transport/http-transport.js';
import type { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';
import { VENDORS } from './vendors.js';

const offered = (environment: Record<string, string>, further: readonly ProviderConfig[]) =>
  ownAccountProviders(readVendors(VENDORS, environment), further);

const further = (id: string, fields: Partial<ProviderConfig> = {}): ProviderConfig => ({
  id,
  name: id,
  adapter: 'openai',
  type: 'openai',
  baseUrl: `https://${id}.example/v1`,
  apiKey: undefined,
  settings: { responses: 'true' },
  ...fields,
});

describe(ownAccountProviders.name, () => {
  it('lists every vendor, configured or not, with its address and without an account', () => {
    const providers = offered({ OPENAI_BASE_URL: 'https://proxy.example/v1/' }, []);
    expect(providers.map(({ id }) => id)).toEqual(
      VENDORS.filter(({ accountForm }) => accountForm).map(({ id }) => id),
    );
    expect(providers.map(({ id }) => id)).not.toContain('sandbox');
    expect(providers[0]!.baseUrl).toBe('https://proxy.example/v1');
    expect(providers[1]!.baseUrl).toBe('https://api.anthropic.com');
  });

  it("contains nothing from the operator's accounts", () => {
    const providers = offered(
      {
        OPENAI_API_KEY: 'operators',
        AZURE_OPENAI_API_KEY: 'operators',
        AZURE_OPENAI_ENDPOINT: 'https://operators.example',
        AWS_ACCESS_KEY_ID: 'operators',
        AWS_SECRET_ACCESS_KEY: 'operators',
        AWS_SESSION_TOKEN: 'operators',
        GOOGLE_CLOUD_PROJECT: 'operators',
        VERTEX_ACCESS_TOKEN: 'operators',
      },
      [further('one', { apiKey: 'operators' })],
    );
    expect(JSON.stringify(providers)).not.toContain('operators');
  });

  it('includes additional providers that need a key, unless they opt out', () => {
    const providers = offered({}, [
      further('keyed', { apiKey: 'a' }),
      further('keyless'),
      further('closed', { apiKey: 'a', takesOwnAccounts: false }),
      further('open', { takesOwnAccounts: true }),
    ]);
    expect(providers.slice(-2)).toEqual([
      further('keyed'),
      further('open', { takesOwnAccounts: true }),
    ]);
  });
});

describe('the vendor list', () => {
  it('names each vendor once, and exactly one is for servers of the providers file', () => {
    const ids = VENDORS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(VENDORS.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  });

  it.each(VENDORS)('declares exactly the features of the adapter of $id', (vendor) => {
    const [provider] = readVendors([vendor], {}).map(({ env }) => ({
      id: vendor.id,
      name: vendor.name,
      adapter: vendor.id,
      type: vendor.type,
      baseUrl: vendor.baseUrl(env),
      apiKey: 'a-key',
      settings: {},
    }));
    const tools = { transport: {} as HttpTransport, mediaFetcher: {} as MediaFetcher };
    const upstream: Upstream = vendor.createAdapter(provider!, tools);
    const can = (...kinds: string[]): boolean => vendor.kinds.some((kind) => kinds.includes(kind));
    expect({
      embedding: upstream.embed !== undefined,
      speech: upstream.speak !== undefined,
      transcription: upstream.transcribe !== undefined,
      media: upstream.submitMedia !== undefined,
    }).toEqual({
      embedding: can('embedding'),
      speech: can('speech'),
      transcription: can('transcription'),
      media: can('image', 'video', 'speech'),
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { ProviderConfig } from './app-config.js';
import { ownAccountProviders } from './configured-providers.js';

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
  it('has every vendor, configured or not, at its address and without an account', () => {
    const providers = ownAccountProviders({ OPENAI_BASE_URL: 'https://proxy.example/v1/' }, []);
    expect(providers.map(({ id }) => id)).toEqual([
      'openai',
      'anthropic',
      'azure',
      'bedrock',
      'vertex',
      'fish-audio',
    ]);
    expect(providers[0]!.baseUrl).toBe('https://proxy.example/v1');
    expect(providers[1]!.baseUrl).toBe('https://api.anthropic.com');
  });

  it("holds nothing of the operator's accounts", () => {
    const providers = ownAccountProviders(
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

  it('has those further providers that ask for a key, unless they say otherwise', () => {
    const providers = ownAccountProviders({}, [
      further('keyed', { apiKey: 'a' }),
      further('keyless'),
      further('closed', { apiKey: 'a', takesOwnAccounts: false }),
      further('open', { takesOwnAccounts: true }),
    ]);
    expect(providers.slice(6)).toEqual([
      further('keyed'),
      further('open', { takesOwnAccounts: true }),
    ]);
  });
});

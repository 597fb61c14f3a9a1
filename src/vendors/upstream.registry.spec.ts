import { describe, expect, it } from '@jest/globals';
import type { ProviderConfig } from '../platform/config/app-config.js';
import { OpenAiAdapter } from './openai/openai.adapter.js';
import { SandboxAdapter } from './sandbox/sandbox.adapter.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import { UpstreamRegistry } from './upstream.registry.js';

const provider = (id: string, adapter: string): ProviderConfig => ({
  id,
  name: id,
  adapter,
  type: 'openai',
  baseUrl: 'https://example.com/v1',
  apiKey: undefined,
  settings: {},
});

const registry = (...providers: ProviderConfig[]) =>
  new UpstreamRegistry(
    { providers },
    new HttpTransport(1_000),
    new MediaFetcher({ allowPrivate: false }),
  );

describe(UpstreamRegistry.name, () => {
  it('makes one adapter per configured provider', () => {
    const upstreams = registry(provider('openai', 'openai'), provider('sandbox', 'sandbox'));
    expect(upstreams.has('openai')).toBe(true);
    expect(upstreams.has('azure')).toBe(false);
    expect(upstreams.get('openai')).toBeInstanceOf(OpenAiAdapter);
    expect(upstreams.get('sandbox')).toBeInstanceOf(SandboxAdapter);
    expect(upstreams.get('openai')).toBe(upstreams.get('openai'));
    expect(() => upstreams.get('azure')).toThrow('provider azure is not configured');
  });

  it('makes further adapters, on connections of their own where that is asked for', async () => {
    const calls: string[] = [];
    const transport = {
      call: ({ headers }: { headers: Record<string, string> }) => {
        calls.push(headers.authorization ?? '');
        return Promise.reject(new Error('no connection'));
      },
    } as unknown as HttpTransport;
    const upstreams = registry(provider('openai', 'openai'));
    const own = upstreams.create({ ...provider('openai', 'openai'), apiKey: 'own' }, transport);
    const limits = { firstByteMs: 1, idleMs: 1, requestMs: 1 };
    const { signal } = new AbortController();
    await expect(own.probe({ limits, signal })).rejects.toThrow('no connection');
    expect(calls).toEqual(['Bearer own']);
    expect(upstreams.get('openai')).not.toBe(own);
  });

  it.each(['smoke-signals', '', 'constructor'])('refuses to start with adapter %j', (adapter) => {
    expect(() => registry(provider('odd', adapter))).toThrow(`provider odd: no adapter ${adapter}`);
  });
});

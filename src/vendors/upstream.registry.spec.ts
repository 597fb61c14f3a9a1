import { describe, expect, it } from '@jest/globals';
import type { PoolAccount, ProviderConfig } from '../platform/config/app-config.js';
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
  it('creates one adapter per configured provider', () => {
    const upstreams = registry(provider('openai', 'openai'), provider('sandbox', 'sandbox'));
    expect(upstreams.has('openai')).toBe(true);
    expect(upstreams.has('azure')).toBe(false);
    expect(upstreams.get('openai')).toBeInstanceOf(OpenAiAdapter);
    expect(upstreams.get('sandbox')).toBeInstanceOf(SandboxAdapter);
    expect(upstreams.get('openai')).toBe(upstreams.get('openai'));
    expect(() => upstreams.get('azure')).toThrow('provider azure is not configured');
  });

  it('creates one adapter per account of a pool, and keeps those of unchanged accounts', async () => {
    const pool = (...accounts: PoolAccount[]) => ({ ...provider('openai', 'openai'), accounts });
    const account = (id: string, apiKey: string): PoolAccount => ({ id, apiKey, weight: 1 });
    const config = { providers: [pool(account('a', 'key-a'), account('b', 'key-b'))] };
    const calls: string[] = [];
    const transport = {
      call: ({ headers, url }: { headers: Record<string, string>; url: URL }) => {
        calls.push(`${headers.authorization} ${url.host}`);
        return Promise.reject(new Error('no connection'));
      },
    } as unknown as HttpTransport;
    const upstreams = new UpstreamRegistry(
      config,
      transport,
      new MediaFetcher({ allowPrivate: false }),
    );
    const [a, b] = [upstreams.get('openai', 'a'), upstreams.get('openai', 'b')];
    config.providers = [
      pool(account('a', 'key-a'), { ...account('c', 'key-c'), baseUrl: 'https://eu.example/v1' }),
    ];
    upstreams.refresh();
    expect(upstreams.get('openai', 'a')).toBe(a);
    // Requests that were planned with it may still need it.
    expect(upstreams.get('openai', 'b')).toBe(b);
    expect(() => upstreams.get('openai', 'd')).toThrow('provider openai@d is not configured');
    const limits = { firstByteMs: 1, idleMs: 1, requestMs: 1 };
    const { signal } = new AbortController();
    for (const id of ['a', 'b', 'c']) {
      await expect(upstreams.get('openai', id).probe({ limits, signal })).rejects.toThrow();
    }
    expect(calls).toEqual([
      'Bearer key-a example.com',
      'Bearer key-b example.com',
      'Bearer key-c eu.example',
    ]);
  });

  it('creates further adapters, on separate connections if requested', async () => {
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

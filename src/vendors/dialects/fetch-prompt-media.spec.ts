import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import type { FetchMediaOptions } from '../transport/media-fetcher.js';
import { fetchPromptMedia } from './fetch-prompt-media.js';

const MB = 1024 * 1024;
const { signal } = new AbortController();

function fetcher(bytes = 10) {
  const calls: [string, FetchMediaOptions][] = [];
  let running = 0;
  let atOnce = 0;
  return {
    calls,
    atOnce: () => atOnce,
    fetch: async (url: string, options: FetchMediaOptions) => {
      calls.push([url, options]);
      atOnce = Math.max(atOnce, ++running);
      await Promise.resolve();
      running--;
      return { mediaType: 'image/png', data: Buffer.alloc(bytes) };
    },
  };
}

const promptWith = (...urls: string[]) =>
  chatRequest({
    messages: [
      {
        role: 'user',
        content: urls.map((url) => ({ type: 'image_url', image_url: { url } })),
      },
    ],
  }).prompt();

describe(fetchPromptMedia.name, () => {
  it('makes no calls for a prompt without URLs', async () => {
    const fake = fetcher();
    const prompt = promptWith('data:image/png;base64,AAAA');
    expect(await fetchPromptMedia(prompt, fake, { signal, param: 'messages' })).toEqual(new Map());
    expect(fake.calls).toEqual([]);
  });

  it('fetches each URL once, four at a time', async () => {
    const fake = fetcher();
    const urls = Array.from({ length: 9 }, (_, index) => `https://example.com/${index}`);
    const media = await fetchPromptMedia(promptWith(...urls, ...urls), fake, {
      signal,
      param: 'messages',
    });
    expect([...media.keys()]).toEqual(urls);
    expect(fake.calls.map(([url]) => url)).toEqual(urls);
    expect(fake.atOnce()).toBe(4);
  });

  it('finds URLs in tool results', async () => {
    const fake = fetcher();
    const source = { kind: 'url', url: 'https://example.com/chart.png' } as const;
    const part = {
      type: 'tool_result',
      toolCallId: 'x',
      parts: [{ type: 'image', source }],
    } as const;
    const messages = [{ role: 'tool', parts: [part] }] as const;
    const media = await fetchPromptMedia({ messages }, fake, { signal, param: 'messages' });
    expect([...media.keys()]).toEqual([source.url]);
  });

  it('shares one size limit among all downloads', async () => {
    const fake = fetcher(5 * MB);
    const urls = ['a', 'b', 'c', 'd', 'e'].map((name) => `https://example.com/${name}`);
    await fetchPromptMedia(promptWith(...urls), fake, { signal, param: 'messages' });
    expect(fake.calls.map(([, { maxBytes }]) => maxBytes! / MB)).toEqual([
      6.25, 6.25, 6.25, 6.25, 5,
    ]);
  });

  it('rejects more than 20 URLs before fetching any', async () => {
    const fake = fetcher();
    const urls = Array.from({ length: 21 }, (_, index) => `https://example.com/${index}`);
    await expect(
      fetchPromptMedia(promptWith(...urls), fake, { signal, param: 'input' }),
    ).rejects.toMatchObject({ failure: 'caller', param: 'input' });
    expect(fake.calls).toEqual([]);
  });
});

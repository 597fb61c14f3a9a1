import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { MediaFetcher } from '../transport/media-fetcher.js';
import { withinNetwork } from './own-network.js';

const START: CanonicalEvent = { type: 'text', choice: 0, text: 'Hi' };
const ADDRESSES: Record<string, string> = {
  'pictures.example': '93.184.216.34',
  'rebound.example': '169.254.169.254',
};

async function ask(
  value: object,
  { dialect = 'chat', allowPrivate = false } = {},
): Promise<CanonicalEvent[]> {
  const fetcher = new MediaFetcher({
    allowPrivate,
    resolveName: (hostname, _options, callback) => {
      const address = ADDRESSES[hostname];
      callback(null, address === undefined ? [] : [{ address, family: 4 }]);
    },
  });
  const events: CanonicalEvent[] = [];
  const request = { dialect, body: { value } } as unknown as CanonicalRequest;
  async function* answer(): AsyncGenerator<CanonicalEvent> {
    yield await Promise.resolve(START);
  }
  try {
    for await (const event of withinNetwork(request, fetcher, answer)) events.push(event);
  } finally {
    await fetcher.onApplicationShutdown();
  }
  return events;
}

const chat = (part: object): object => ({ messages: [{ role: 'user', content: [part] }] });
const picture = (url: string): object => chat({ type: 'image_url', image_url: { url } });

describe(withinNetwork.name, () => {
  it.each([
    'http://127.0.0.1:6379/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://vault/secret',
    'http://wiki.internal/',
    'https://rebound.example/a.png',
    'file:///etc/passwd',
    '/etc/passwd',
    'http://user:word@pictures.example/',
  ])('rejects %s', async (url) => {
    const refusal = { failure: 'caller', param: 'messages' };
    await expect(ask(picture(url))).rejects.toMatchObject(refusal);
  });

  const url = 'http://10.0.0.1/';
  it.each([
    ['chat', chat({ type: 'image_url', image_url: url })],
    ['chat', chat({ type: 'video_url', Video_URL: { URL: url } })],
    ['messages', chat({ type: 'image', source: { type: 'url', url } })],
    [
      'messages',
      chat({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url } }] }),
    ],
    [
      'responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
    ],
    ['responses', { input: [{ call_id: 'c', output: [{ type: 'input_file', file_url: url }] }] }],
  ])('checks all media URLs of %s: %j', async (dialect, value) => {
    await expect(ask(value, { dialect })).rejects.toMatchObject({ failure: 'caller' });
  });

  it.each([
    ['a public address', picture('https://pictures.example/a.png')],
    ['a name that the gateway cannot resolve', picture('https://elsewhere.example/a.png')],
    ['inline data', picture('data:image/png;base64,AAAA')],
    ['a text', chat({ type: 'text', text: 'http://127.0.0.1/' })],
    ["a tool call's input", chat({ type: 'tool_use', input: { url } })],
    ['the source of a search result', chat({ type: 'search_result', source: url })],
  ])('accepts %s', async (_, value) => {
    expect(await ask(value)).toEqual([START]);
  });

  it('accepts everything when private addresses are allowed', async () => {
    expect(await ask(picture(url), { allowPrivate: true })).toEqual([START]);
  });
});

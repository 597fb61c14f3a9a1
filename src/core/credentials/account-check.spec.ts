import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendJson, startFakeOpenAi, type FakeOpenAi } from '../../../test/support/fake-openai.js';
import { MediaFetcher } from '../../vendors/transport/media-fetcher.js';
import { HttpTransport } from '../../vendors/transport/http-transport.js';
import { openAi } from '../../vendors/openai/openai.vendor.js';
import { checkAccount } from './account-check.js';

describe(checkAccount.name, () => {
  let vendor: FakeOpenAi;
  const transport = new HttpTransport(1_000);

  beforeAll(async () => {
    vendor = await startFakeOpenAi();
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await vendor.close();
  });

  const check = (baseUrl = vendor.baseUrl) => {
    const account = { apiKey: 'sk-of-somebody', settings: {}, baseUrl };
    const provider = { id: 'openai', name: 'OpenAI', adapter: 'openai', type: 'openai' as const };
    const tools = { transport, mediaFetcher: {} as MediaFetcher };
    return checkAccount(openAi.createAdapter({ ...provider, ...account }, tools), {
      name: 'OpenAI',
      hasKey: true,
    });
  };

  it('reports how many models the vendor lists for a valid key', async () => {
    vendor.answer = (_, response) => sendJson(response, 200, { data: [{ id: 'a' }, { id: 'b' }] });
    expect(await check()).toMatchObject({
      outcome: 'ok',
      status: null,
      modelsSeen: 2,
      modelIds: ['a', 'b'],
      message: 'OpenAI takes the key. It lists 2 models.',
    });
    expect(vendor.calls.at(-1)).toMatchObject({ method: 'GET', path: '/v1/models' });
  });

  it.each([
    [401, 'refuses the key (401)'],
    [402, 'nothing is left to spend (402)'],
    [403, 'refuses the key (403)'],
    [404, 'returns 404'],
    [429, 'fewer calls (429)'],
    [500, 'did not answer as it should (500)'],
  ])('reports status %d in its own words', async (status, words) => {
    vendor.answer = (_, response) =>
      sendJson(response, status, { error: { message: 'no sk-of-somebody here' } });
    const { outcome, message, ...rest } = await check();
    expect(outcome).toBe(status < 404 ? 'refused' : 'unreachable');
    expect(message).toContain(words);
    expect(message).not.toContain('sk-of-somebody');
    expect(rest).toMatchObject({ status, modelsSeen: null });
  });

  it.each(['<html>', '{"hello": true}', '[]', ''])(
    'reports an unusable answer: %j',
    async (body) => {
      vendor.answer = (_, response) => void response.writeHead(200).end(body);
      expect(await check()).toMatchObject({
        outcome: 'unreachable',
        message: expect.stringContaining('does not speak its API'),
      });
    },
  );

  it('reports a failed connection', async () => {
    expect(await check('http://127.0.0.1:9/v1')).toMatchObject({
      outcome: 'unreachable',
      status: null,
      message: expect.stringContaining('No connection to OpenAI'),
    });
  });
});

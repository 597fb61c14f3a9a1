import { describe, expect, it } from '@jest/globals';
import { canonicalRequest } from '../../../test/support/canonical-requests.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { FakeConnection, LONG_LIMITS } from '../../../test/support/fake-connection.js';
import { imageRequest, mediaCall, videoRequest } from '../../../test/support/media-requests.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { HttpCall, HttpTransport } from '../transport/http-transport.js';
import { AzureAdapter } from './azure.adapter.js';

const SSE = { 'content-type': 'text/event-stream' };
const KEY = 'key-of-the-resource';

/** Creates an adapter whose connections the test drives. */
function azure(drive: (connection: FakeConnection) => void, apiVersion?: string) {
  const calls: HttpCall[] = [];
  const transport = {
    call(call: HttpCall) {
      const connection = new FakeConnection(call.limits, { signal: call.signal });
      calls.push(call);
      drive(connection.start());
      return connection.head;
    },
  } as unknown as HttpTransport;
  const adapter = new AzureAdapter(
    {
      id: 'azure',
      name: 'Azure OpenAI',
      adapter: 'azure',
      type: 'azure',
      baseUrl: 'https://res.openai.azure.com',
      apiKey: KEY,
      settings: { apiVersion },
    },
    transport,
  );
  const ask = async (request: CanonicalRequest = chatRequest()): Promise<CanonicalEvent[]> => {
    const events: CanonicalEvent[] = [];
    const call = {
      request,
      alias: 'azure/gpt',
      upstreamModel: 'my deployment',
      limits: LONG_LIMITS,
      maxOutputTokens: 100,
      signal: new AbortController().signal,
    };
    for await (const event of adapter.generate(call)) events.push(event);
    return events;
  };
  return { adapter, calls, ask };
}

const answer = { id: 'x', choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] };
const answering =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (connection: FakeConnection): void =>
    void connection.answer(status, headers).send(JSON.stringify(body)).end();

describe(AzureAdapter.name, () => {
  it.each([
    [undefined, '/openai/v1/images/generations'],
    [
      '2025-04-01-preview',
      '/openai/deployments/my%20deployment/images/generations?api-version=2025-04-01-preview',
    ],
  ])('generates images, with version %p', async (apiVersion, path) => {
    const picture = { b64_json: Buffer.from('GIF89a').toString('base64') };
    const { adapter, calls } = azure(answering(200, { data: [picture] }), apiVersion);
    const call = mediaCall(imageRequest({ size: '1024x1024' }), 'my deployment');
    const done = await adapter.submitMedia(call);
    expect(done).toMatchObject({ state: 'done', files: [{ contentType: 'image/gif' }] });
    const [{ url, headers, body } = {} as HttpCall] = calls;
    expect(url.pathname + url.search).toBe(path);
    expect(headers['api-key']).toBe(KEY);
    const model = 'my deployment';
    const sent = { model, prompt: 'A cat', n: 1, size: '1024x1024' };
    expect(JSON.parse(String(body))).toEqual(sent);
  });

  it('rejects videos', async () => {
    const { adapter, calls } = azure(answering(200, {}));
    const filming = adapter.submitMedia(mediaCall(videoRequest(), 'sora'));
    await expect(filming).rejects.toMatchObject({ failure: 'unsupported', accepted: 'no' });
    expect(calls).toEqual([]);
  });

  it('has the deployment in the path when a version is set', async () => {
    const { calls, ask } = azure(answering(200, answer), '2024-10-21');
    await ask();
    expect(String(calls[0]?.url)).toBe(
      'https://res.openai.azure.com/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21',
    );
    expect(calls[0]?.headers).toMatchObject({ 'api-key': KEY });
    expect(calls[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([undefined, ''])('has it in the body on the v1 API with version %j', async (version) => {
    const { calls, ask } = azure(answering(200, answer), version);
    await ask();
    expect(String(calls[0]?.url)).toBe('https://res.openai.azure.com/openai/v1/chat/completions');
    expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ model: 'my deployment' });
  });

  it('answers callers of other dialects, using the new name of the output limit', async () => {
    const { calls, ask } = azure(answering(200, answer));
    const events = await ask(canonicalRequest({}, { maxOutputTokens: 7 }));
    expect(events).toContainEqual({ type: 'text', choice: 0, text: 'Hi' });
    expect(JSON.parse(String(calls[0]?.body))).toMatchObject({ max_completion_tokens: 7 });
  });

  it.each(['chat', 'messages'])('hides the prelude from a %s caller', async (dialect) => {
    const piece = (rest: object): string =>
      `data: ${JSON.stringify({ id: '', model: '', ...rest })}\n\n`;
    const { ask } = azure(
      (connection) =>
        void connection
          .answer(200, SSE)
          .send(piece({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }))
          .send(piece({ id: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }] }))
          .send(piece({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
          .end(),
    );
    const request =
      dialect === 'chat' ? chatRequest({ stream: true }) : canonicalRequest({}, { stream: true });
    const events = await ask(request);
    expect(events[0]).toEqual({ type: 'start', id: 'x' });
    const shown = events.map((event) => (event.type === 'relay' ? String(event.bytes) : ''));
    expect(shown.join('')).not.toContain('prompt_filter_results');
  });

  it('reports to the caller that the filter rejected the prompt', async () => {
    const error = {
      message: 'The response was filtered.',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
    };
    await expect(azure(answering(400, { error })).ask()).rejects.toMatchObject({
      failure: 'caller',
      status: 400,
      param: 'messages',
      message: 'The response was filtered.',
    });
  });

  it.each<[number, object, string]>([
    [404, { code: 'DeploymentNotFound', message: 'no such deployment' }, 'operator'],
    [404, { code: '404', message: 'Resource not found' }, 'operator'],
    [401, { code: '401', message: 'invalid subscription key' }, 'operator'],
    [400, { code: 'OperationNotSupported', message: 'does not work with the model' }, 'operator'],
    [400, { code: 'context_length_exceeded', message: 'too long' }, 'context_length'],
    [408, { code: 'Timeout', message: 'timed out' }, 'timeout'],
    [503, { code: 'InternalServerError', message: 'try later' }, 'server'],
  ])('classifies %d with %j as %s', async (status, error, failure) => {
    await expect(azure(answering(status, { error })).ask()).rejects.toMatchObject({ failure });
  });

  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '3', 'retry-after-ms': '2500' }, 2_500],
  ])('reads the retry delay from %j', async (headers, retryAfterMs) => {
    const error = { code: '429', message: 'Requests have exceeded the rate limit.' };
    await expect(azure(answering(429, { error }, headers)).ask()).rejects.toMatchObject({
      failure: 'rate_limited',
      retryAfterMs,
    });
  });

  it('redacts its key', async () => {
    const error = { message: `bad ${KEY}` };
    const { ask } = azure(answering(400, { error }));
    await expect(ask()).rejects.toMatchObject({ message: 'bad [redacted]' });
  });

  it.each([
    ['2024-10-21', 'https://res.openai.azure.com/openai/models?api-version=2024-10-21'],
    [undefined, 'https://res.openai.azure.com/openai/v1/models'],
  ])('probes with version %j', async (version, url) => {
    const { adapter, calls } = azure(answering(200, { data: [] }), version);
    await adapter.probe({ limits: LONG_LIMITS, signal: new AbortController().signal });
    expect(calls[0]).toMatchObject({ method: 'GET', headers: { 'api-key': KEY } });
    expect(String(calls[0]?.url)).toBe(url);
  });

  it('fails a probe with a bad key', async () => {
    const { adapter } = azure(answering(401, { error: { message: `bad ${KEY}` } }));
    const probing = adapter.probe({ limits: LONG_LIMITS, signal: new AbortController().signal });
    await expect(probing).rejects.toMatchObject({
      failure: 'operator',
      message: 'bad [redacted]',
    });
  });
});

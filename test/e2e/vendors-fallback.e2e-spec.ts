import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ContractVendor, FailureKind, ScriptedAnswer } from '../contract/contract-vendor.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { ALL_VENDORS } from '../contract/vendors/all-vendors.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { loggedRequest } from '../support/logged-request.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';

interface RoutedVendor {
  vendor: ContractVendor;
  /** The id of its provider. */
  provider: string;
  server: ScriptedServer;
  /** Credits per prompt token and completion token. */
  prices: { prompt: number; completion: number };
}

const ANSWER: ScriptedAnswer = {
  text: 'Hello from afar.',
  finish: 'stop',
  usage: { input: 100, output: 10 },
};
const FAILURES: FailureKind[] = ['overloaded', 'server', 'rate_limited', 'bad_key'];

const VENDORS = ALL_VENDORS.filter((vendor) => vendor.provider !== undefined);

describe('a model served by several vendors', () => {
  const routed: RoutedVendor[] = [];
  let files: OperatorFiles;
  let gateway: BootedGateway;

  beforeAll(async () => {
    for (const [index, vendor] of VENDORS.entries()) {
      routed.push({
        vendor,
        provider: `${vendor.name}-test`,
        server: await startScriptedServer((_call, response) => void response.destroy()),
        prices: { prompt: index + 1, completion: (index + 1) * 3 },
      });
    }
    const providers = routed.map(({ vendor, provider, server }) => {
      const { basePath = '', ...entry } = vendor.provider!;
      const base_url = server.origin + basePath;
      return [provider, { ...entry, base_url, api_key_env: 'VENDOR_KEY' }] as const;
    });
    const pricingOf = ({ prices }: RoutedVendor): Record<string, string> => ({
      prompt: `0.00000${prices.prompt}`,
      completion: (prices.completion / 1_000_000).toFixed(6),
    });
    files = await writeOperatorFiles(Object.fromEntries(providers), [
      {
        id: `${routed[0]!.provider}/shared`,
        pricing: pricingOf(routed[0]!),
        routes: routed.map((one, priority) => ({
          provider: one.provider,
          model: one.vendor.upstreamModel,
          priority,
          pricing: pricingOf(one),
        })),
      },
    ]);
    gateway = await bootGateway({
      ...files.environment,
      VENDOR_KEY: 'key-of-the-vendors',
      // A failure in one case must not pause routes for the next.
      GATEWAY_COOLDOWN_MS: '1',
    });
  });
  afterEach(() => routed.forEach(({ server }) => (server.calls.length = 0)));
  afterAll(async () => {
    await gateway.close();
    await Promise.all(routed.map(({ server }) => server.close()));
    await files.remove();
  });

  const fail = ({ vendor, server }: RoutedVendor, kind: FailureKind): void => {
    const { status, headers, body } = vendor.failure(kind);
    server.script = reply(status, headers, body);
  };
  const answer = ({ vendor, server }: RoutedVendor, stream: boolean): void => {
    const { status, headers, body } = stream ? vendor.stream(ANSWER) : vendor.whole(ANSWER);
    server.script = reply(status, headers, body);
  };
  const ask = (stream: boolean): Promise<Response> =>
    gateway.post('/v1/chat/completions', {
      model: `${routed[0]!.provider}/shared`,
      messages: [{ role: 'user', content: 'Hello' }],
      stream,
    });

  const turns = VENDORS.flatMap((vendor, index) =>
    [false, true].map((stream) => ({ name: vendor.name, index, stream })),
  );

  it.each(turns)(
    'is answered by $name when those before it fail (stream: $stream), and charged at that route’s price',
    async ({ index, stream }) => {
      for (const kind of index === 0 ? FAILURES.slice(0, 1) : FAILURES) {
        const answering = routed[index]!;
        routed.slice(0, index).forEach((one) => fail(one, kind));
        answer(answering, stream);
        const response = await ask(stream);
        const text = await response.text();
        expect(response.status).toBe(200);
        expect(textIn(text, stream)).toBe(ANSWER.text);
        expect(response.headers.get('x-gateway-provider')).toBe(answering.provider);
        expect(routed.every(({ server }, at) => server.calls.length > 0 === at <= index)).toBe(
          true,
        );

        const { prompt, completion } = answering.prices;
        const cost = ANSWER.usage.input * prompt + ANSWER.usage.output * completion;
        const id = response.headers.get('x-request-id')!;
        expect(await loggedRequest(gateway.database, id)).toMatchObject({
          model: `${routed[0]!.provider}/shared`,
          provider: answering.provider,
          outcome: 'completed',
          usage_source: 'upstream',
          prompt_tokens: ANSWER.usage.input,
          completion_tokens: ANSWER.usage.output,
          cost,
        });
        const record = await gateway.fetch(`/v1/generation?id=${id}`);
        expect(await record.json()).toMatchObject({
          data: { provider_name: answering.provider, total_cost: cost, finish_reason: 'stop' },
        });
        routed.forEach(({ server }) => (server.calls.length = 0));
      }
    },
  );

  it('is charged nothing when every vendor fails', async () => {
    routed.forEach((one) => fail(one, 'bad_key'));
    const response = await ask(false);
    expect(response.status).toBe(502);
    const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ cost: 0, error_type: 'provider_error' });
  });
});

/** The text of a chat answer. */
function textIn(body: string, stream: boolean): string {
  if (!stream) {
    const { choices } = JSON.parse(body) as { choices: [{ message: { content: string } }] };
    return choices[0].message.content;
  }
  return body
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)) as { choices: { delta: { content?: string } }[] })
    .map((chunk) => chunk.choices[0]?.delta.content ?? '')
    .join('');
}

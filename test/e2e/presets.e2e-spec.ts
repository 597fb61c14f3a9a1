import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Preset } from '../../src/vendors/presets/preset.js';
import { presetCatalogues } from '../../src/vendors/presets/load-presets.js';
import { CHAT_FIELDS } from '../../src/vendors/dialects/known-fields.js';
import type { JsonObject } from '../../src/platform/http/json-body.js';
import { allCallers, DIALECTS, schemaFields } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import { LAST_WORD, TWO_CALLS } from '../contract/contract-conversation.js';
import { ContractReport } from '../contract/contract-report.js';
import type { Reply, ScriptedAnswer } from '../contract/contract-vendor.js';
import {
  reply,
  startScriptedServer,
  type RecordedCall,
  type ScriptedServer,
} from '../contract/scripted-server.js';
import { jsonReply, openAiVendor } from '../contract/vendors/openai.vendor.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { until } from '../support/until.js';
import { loggedRequest } from '../support/logged-request.js';

const HELLO: ScriptedAnswer = {
  text: 'Hello from afar.',
  finish: 'stop',
  usage: { input: 100, output: 10 },
};
const LOCAL_MODEL = 'llama3.2:latest';
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const PLACE: ScriptedAnswer = { ...HELLO, text: '{"city":"Zürich"}' };
const FORMATS = schemaFields(SCHEMA);

/** Each vendor's fields besides the common `CHAT_FIELDS`. */
const OWN_FIELDS: Record<string, string[]> = {
  mistral: ['random_seed'],
  perplexity: ['web_search_options'],
  zai: ['user_id'],
};

/** Deviations of vendors' answers, according to their references. */
const SPELLINGS: Record<string, (answer: JsonObject) => JsonObject> = {
  // Reports cached tokens separately.
  deepseek: ({ usage, ...answer }) => ({
    ...answer,
    ...(isUsage(usage) && {
      usage: {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        prompt_cache_hit_tokens: 0,
        prompt_cache_miss_tokens: usage.prompt_tokens,
      },
    }),
  }),
  // Reports reasoning separately from the completion.
  xai: ({ usage, ...answer }) => ({
    ...answer,
    ...(isUsage(usage) && {
      usage: {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens - 4,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    }),
  }),
  // Has a separate object for its extensions.
  groq: ({ usage, ...answer }) => ({ ...answer, usage, x_groq: { id: 'req_1', usage } }),
};

interface Upstream {
  preset: Preset;
  model: string;
}

const UPSTREAMS: Upstream[] = presetCatalogues().map((file) => {
  const read = <Value>(name: string): Value =>
    JSON.parse(readFileSync(new URL(name, file), 'utf8')) as Value;
  const { models } = read<{ models: { id: string }[] }>('models.json');
  return { preset: read<Preset>('preset.json'), model: models[0]!.id };
});

describe('each preset, started with one variable', () => {
  const report = new ContractReport();
  let server: ScriptedServer;
  let gateway: BootedGateway;
  let callers: Record<DialectCaller['name'], DialectCaller>;
  let answer: ScriptedAnswer | 'bad_key' | 'bad_request' = HELLO;

  beforeAll(async () => {
    server = await startScriptedServer((call, response) => {
      const { status, headers, body } = answerOf(call);
      return reply(status, headers, body)(call, response);
    });
    const variables = UPSTREAMS.flatMap(({ preset: { id, env } }) => [
      [`${env}_API_KEY`, `key-of-${id}`],
      [`${env}_BASE_URL`, `${server.origin}/${id}`],
    ]);
    gateway = await bootGateway({
      OLLAMA_BASE_URL: `${server.origin}/ollama/v1`,
      ...(Object.fromEntries(variables) as Record<string, string>),
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      // A failure in one case must not pause the route for the next.
      GATEWAY_COOLDOWN_MS: '1',
    });
    callers = allCallers(gateway);
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await server.close();
    report.print();
  });

  /** Answers like the vendor of the call's path, which rejects what its table lacks. */
  function answerOf(call: RecordedCall): Reply {
    const [, id] = call.path.split('/');
    if (call.path === '/ollama/v1/models') return jsonReply(200, { data: [{ id: LOCAL_MODEL }] });
    if (id === 'api') return jsonReply(200, { model_info: { 'llama.context_length': 8_192 } });
    if (id === 'ollama') return openAiVendor.whole(HELLO);
    const { preset } = UPSTREAMS.find((one) => one.preset.id === id)!;
    if (call.headers.authorization !== `Bearer key-of-${id}`)
      return openAiVendor.failure('bad_key');
    if (typeof answer === 'string') return openAiVendor.failure(answer);
    const body = JSON.parse(call.body.toString()) as JsonObject;
    const fault = faultOf(preset, body);
    if (fault !== undefined) return jsonReply(400, { error: { message: `extra: ${fault}` } });
    const transform = SPELLINGS[preset.id];
    const {
      status,
      headers,
      body: plain,
    } = body.stream === true ? openAiVendor.stream(answer) : openAiVendor.whole(answer);
    return { status, headers, body: transform ? respell(plain, transform) : plain };
  }

  it('and a self-hosted server, by its address: its models are listed, for free', async () => {
    const model = 'ollama/llama3.2';
    await until(async () => (await gateway.fetch(`/v1/models/${model}`)).status === 200);
    const shown = await (await gateway.fetch(`/v1/models/${model}`)).json();
    expect(shown).toMatchObject({ context_length: 8_192, pricing: { prompt: '0' } });
    const reply = await callers.chat.ask(model, false);
    expect(reply).toMatchObject({ text: HELLO.text, model });
    const row = await loggedRequest(gateway.database, callers.chat.lastRequestId());
    expect(row).toMatchObject({ provider: 'ollama', completion_tokens: 10, cost: 0 });
    const call = server.calls.at(-1)!;
    expect(JSON.parse(call.body.toString())).toMatchObject({ model: LOCAL_MODEL });
    expect(call.headers.authorization).toBeUndefined();
  });

  it('lets no self-hosted server fetch from its network, while vendors may fetch', async () => {
    const part = { type: 'image_url', image_url: { url: 'http://127.0.0.1:6379/a.png' } };
    const messages = [{ role: 'user', content: [part] }];
    const ask = async (model: string) =>
      (await gateway.post('/v1/chat/completions', { model, messages })).status;
    expect(await ask('ollama/llama3.2')).toBe(400);
    expect(server.calls.filter(({ path }) => path.endsWith('/chat/completions'))).toEqual([]);
    const { model } = UPSTREAMS.find(({ preset }) => preset.id === 'groq')!;
    expect(await ask(model)).toBe(200);
  });

  it.each(DIALECTS)('separates reasoning from the text for %s', async (dialect) => {
    const caller = callers[dialect];
    const { model } = UPSTREAMS.find(({ preset }) => preset.id === 'together')!;
    answer = { ...HELLO, text: `<think>I see.</think>\n\n${HELLO.text}` };
    const whole = await caller.ask(model, false);
    expect(whole.text).toBe(HELLO.text);
    expect(JSON.stringify(whole.raw)).toContain('I see.');
    expect(JSON.stringify(whole.raw)).not.toContain('think>');
    const streamed = await caller.ask(model, true);
    expect(streamed.text).toBe(HELLO.text);
  });

  const cases = UPSTREAMS.flatMap(({ preset, model }) =>
    DIALECTS.map((dialect) => ({ preset, id: preset.id, model, dialect })),
  );

  it.each(cases)('answers $dialect: $id', async ({ preset, id, model, dialect }) => {
    const caller = callers[dialect];
    const { quirks: { tools, jsonSchema } = {} } = preset;
    for (const stream of [false, true]) {
      await report.note(id, dialect, stream ? 'streamed' : 'whole', async () => {
        answer = HELLO;
        const reply = await caller.ask(model, stream);
        expect(reply).toMatchObject({
          text: HELLO.text,
          end: caller.ends.stop,
          // The relayed usage is the vendor's own count; the charge is in the log.
          usage: id === 'xai' && dialect === 'chat' ? { input: 100 } : HELLO.usage,
          model,
        });
        const row = await loggedRequest(gateway.database, caller.lastRequestId());
        expect(row).toMatchObject({ provider: id, prompt_tokens: 100, completion_tokens: 10 });
        expect(Number(row.cost)).toBeGreaterThan(0);

        answer = PLACE;
        const shaped = await caller.ask(model, stream, FORMATS[dialect]);
        expect(JSON.parse(shaped.text)).toEqual({ city: 'Zürich' });
        // A vendor without schemas gets it as text, and the caller is notified.
        expect(String(server.calls.at(-1)!.body)).toContain('additionalProperties');
        const dropped = shaped.headers.get('x-gateway-dropped-params');
        expect(dropped === null).toBe(jsonSchema !== false);

        answer = TWO_CALLS;
        if (tools === false) {
          await expect(caller.open(model, stream)).rejects.toThrow('does not support tools');
          return;
        }
        const called = await caller.open(model, stream);
        expect(called.toolCalls.map(({ name }) => name)).toEqual(['get_weather', 'get_time']);
        answer = LAST_WORD;
        const last = await caller.answerTools(model, stream, [called]);
        expect(last.text).toBe(LAST_WORD.text);
      });
    }
    answer = 'bad_key';
    await expect(caller.ask(model, false)).rejects.toMatchObject({ status: 502 });
    answer = 'bad_request';
    await expect(caller.ask(model, true)).rejects.toMatchObject({ status: 400 });
  });
});

/** Returns a field of the body that the vendor does not know, if any. */
function faultOf({ id, quirks = {} }: Preset, body: JsonObject): string | undefined {
  const { takes = [], refuses = [], streamOptions, outputLimitField = 'max_tokens' } = quirks;
  const known = new Set([...CHAT_FIELDS, ...takes, ...(OWN_FIELDS[id] ?? [])]);
  const other = outputLimitField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const refused = new Set([...refuses, other, ...Object.keys(quirks.renames ?? {})]);
  if (streamOptions === false) refused.add('stream_options');
  const roles = (body.messages as { role: string }[]).map(({ role }) => role);
  if (roles.includes('developer')) return 'role developer';
  return Object.keys(body).find((field) => !known.has(field) || refused.has(field));
}

function isUsage(usage: unknown): usage is { prompt_tokens: number; completion_tokens: number } {
  return typeof usage === 'object' && usage !== null;
}

/** Transforms each object of an answer or a stream. */
function respell(body: Buffer, transform: (answer: JsonObject) => JsonObject): Buffer {
  const again = (text: string): string => JSON.stringify(transform(JSON.parse(text) as JsonObject));
  const text = body.toString();
  if (text.startsWith('{')) return Buffer.from(again(text));
  return Buffer.from(
    text.replace(/^data: (\{.*\})$/gm, (_line, json: string) => `data: ${again(json)}`),
  );
}

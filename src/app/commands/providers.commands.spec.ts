import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  reply,
  startScriptedServer,
  type RecordedCall,
  type ScriptedServer,
} from '../../../test/contract/scripted-server.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { loadSettings } from '../load-settings.js';
import { runCommand } from './run-command.js';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Returns the provider's names for models of the built-in catalogue. */
function namesAt(provider: string): string[] {
  return new CatalogueService({ catalogueFile: undefined }).models
    .flatMap(({ routes }) => routes)
    .filter((route) => route.provider === provider)
    .map(({ upstreamModel }) => upstreamModel);
}

describe('gateway providers check', () => {
  let server: ScriptedServer;
  let folder: string;
  /** Responses by path prefix. */
  const answers = new Map<string, [status: number, body: unknown]>();

  const keyOf = ({ headers, path }: RecordedCall): string =>
    String(
      headers['x-api-key'] ??
        headers['api-key'] ??
        headers['x-goog-api-key'] ??
        headers.authorization,
    ) + path;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'checks-'));
    server = await startScriptedServer((call, response) => {
      const [, answer] = [...answers].find(([begin]) => call.path.startsWith(begin)) ?? [];
      const isRefused = keyOf(call).includes('wrong-key');
      const [status, body] = isRefused
        ? [401, { error: { message: 'no wrong-key here' } }]
        : (answer ?? [200, { data: [{ id: 'a' }, { id: 'b' }] }]);
      return reply(status, JSON_TYPE, Buffer.from(JSON.stringify(body)))(call, response);
    });
  });
  afterEach(() => {
    answers.clear();
    server.calls.length = 0;
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server.close();
  });

  async function check(environment: Record<string, string>) {
    const lines: string[] = [];
    const code = await runCommand(['providers', 'check'], {
      loadConfig: () => loadSettings({ GATEWAY_SANDBOX: 'false', ...environment }),
      print: (line) => lines.push(line),
      printError: (line) => lines.push(line),
    });
    return { code, lines };
  }

  it('reports in one line each which keys work, what they see and which are refused', async () => {
    const mistral = namesAt('mistral');
    answers.set('/mistral', [200, { data: mistral.slice(1).map((id) => ({ id })) }]);
    const { code, lines } = await check({
      MISTRAL_API_KEY: 'right-key',
      MISTRAL_BASE_URL: `${server.origin}/mistral`,
      GROQ_API_KEY: 'wrong-key',
      GROQ_BASE_URL: `${server.origin}/groq`,
    });
    expect(code).toBe(1);
    expect(lines).toEqual([
      'groq     REFUSED  Groq refuses the key (401). Check that it is complete, active, and of this account.',
      expect.stringMatching(
        new RegExp(
          `^mistral  works    sees \\d+ of ${mistral.length} models of the catalogue, not mistral/`,
        ),
      ),
    ]);
    expect(lines.join()).not.toContain('wrong-key');
    expect(server.calls.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /groq/models',
      'GET /mistral/models',
    ]);
  });

  it('makes one free call per provider', async () => {
    answers.set('/anthropic', [
      200,
      { data: namesAt('anthropic').map((id) => ({ id: `${id}-20261101` })) },
    ]);
    answers.set('/google', [
      200,
      { models: namesAt('google').map((name) => ({ name: `models/${name}` })) },
    ]);
    answers.set('/bedrock/foundation', [200, { modelSummaries: [{ modelId: 'one' }] }]);
    answers.set('/v1beta1', [200, { publisherModels: [] }]);
    answers.set('/fish', [200, { credit: '1' }]);
    answers.set('/zai', [404, {}]);
    answers.set('/openrouter', [200, { data: namesAt('openrouter').map((id) => ({ id })) }]);
    const at = server.origin;
    const { code, lines } = await check({
      OPENAI_API_KEY: 'key-one,wrong-key',
      OPENAI_BASE_URL: `${at}/openai`,
      ANTHROPIC_API_KEY: 'a-key-of-ours',
      ANTHROPIC_BASE_URL: `${at}/anthropic`,
      AZURE_OPENAI_API_KEY: 'a-key-of-ours',
      AZURE_OPENAI_ENDPOINT: `${at}/azure`,
      AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'a-key-of-ours',
      AWS_BEDROCK_ENDPOINT: `${at}/bedrock`,
      GOOGLE_CLOUD_PROJECT: 'a-project',
      VERTEX_ACCESS_TOKEN: 'a-token',
      VERTEX_BASE_URL: at,
      GEMINI_API_KEY: 'a-key-of-ours',
      GEMINI_BASE_URL: `${at}/google`,
      FISH_AUDIO_API_KEY: 'a-key-of-ours',
      FISH_AUDIO_BASE_URL: `${at}/fish`,
      ZAI_API_KEY: 'a-key-of-ours',
      ZAI_BASE_URL: `${at}/zai`,
      OPENROUTER_API_KEY: 'a-key-of-ours',
      OPENROUTER_BASE_URL: `${at}/openrouter`,
      OLLAMA_BASE_URL: `${at}/ollama`,
    });
    expect(lines.map((line) => line.replace(/ {2,}/g, ' | '))).toEqual([
      expect.stringMatching(/^openai@1 \| works \| sees 0 of \d+ models of the catalogue, not /),
      expect.stringMatching(/^openai@2 \| REFUSED \| OpenAI refuses the key \(401\)\./),
      expect.stringMatching(/^anthropic \| works \| sees all \d+ models of the catalogue$/),
      expect.stringMatching(/^azure \| works \| .* takes the key\. It lists 2 models\.$/),
      expect.stringMatching(/^bedrock \| works \| .* takes the key\. It lists 1 model\.$/),
      expect.stringMatching(/^vertex \| works \| .* takes the key\.$/),
      expect.stringMatching(/^google \| works \| sees all \d+ models of the catalogue$/),
      expect.stringMatching(/^fish-audio \| works \| .* takes the key\.$/),
      expect.stringMatching(/^ollama \| works \| Ollama answers\. It lists 2 models\.$/),
      expect.stringMatching(/^openrouter \| works \| sees all \d+ models of the catalogue$/),
      expect.stringMatching(/^zai \| unchecked \| .* no free call that checks a key\.$/),
    ]);
    expect(code).toBe(1);
    expect(server.calls).toHaveLength(11);
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('distinguishes an unreachable keyless server from one that needs a key', async () => {
    const path = join(folder, 'providers.json');
    writeFileSync(
      path,
      JSON.stringify([
        { id: 'away', name: 'Away', base_url: 'http://127.0.0.1:9/v1' },
        { id: 'near', name: 'Near', base_url: `${server.origin}/v1`, api_key_env: 'NEAR_KEY' },
      ]),
    );
    expect(await check({ GATEWAY_PROVIDERS: path, NEAR_KEY: 'a-key-of-ours' })).toEqual({
      code: 1,
      lines: [
        'away  NO ANSWER  No connection to Away could be established. Check the address, and whether this machine can reach it.',
        'near  works      Near takes the key. It lists 2 models.',
      ],
    });
  });

  it('reports nothing when no provider with a key is configured', async () => {
    expect(await check({})).toEqual({ code: 0, lines: [] });
    expect(await check({ GATEWAY_SANDBOX: 'true' })).toEqual({ code: 0, lines: [] });
  });
});

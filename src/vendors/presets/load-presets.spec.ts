import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { readdirSync, readFileSync } from 'node:fs';
import { PREFILLS } from '../dialects/chat/chat-prefill.js';
import { canonicalRequest } from '../../../test/support/canonical-requests.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { filesOfThePage } from '../../../test/support/files-of-the-page.js';
import { mediaCall, speechRequest } from '../../../test/support/media-requests.js';
import { says } from '../../../test/support/prompt-requests.js';
import type { HttpCall, HttpTransport } from '../transport/http-transport.js';
import { MediaFetcher } from '../transport/media-fetcher.js';
import type { Preset } from './preset.js';
import { LOCAL_SERVERS, PRESET_KINDS } from './preset.js';
import { loadPresets, presetCatalogues, vendorOfPreset } from './load-presets.js';

const text = { type: 'string', minLength: 1 };
const words = { type: 'array', items: text };
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const no = { const: false };
const pattern = { type: 'string', format: 'regex' };
const FOLDER = new URL('./', import.meta.url);

const quirks = {
  type: 'object',
  additionalProperties: false,
  properties: {
    outputLimitField: { enum: ['max_tokens', 'max_completion_tokens'] },
    takes: words,
    refuses: words,
    renames: texts,
    adds: {
      type: 'array',
      items: {
        type: 'object',
        required: ['fields'],
        additionalProperties: false,
        properties: { models: pattern, fields: { type: 'object' } },
      },
    },
    streamOptions: no,
    toolChoice: words,
    jsonSchema: no,
    tools: no,
    toolIdLength: { type: 'integer', minimum: 6 },
    keepsReasoning: { const: true },
    thinkTags: { const: true },
    effort: {
      type: 'object',
      additionalProperties: false,
      properties: {
        models: pattern,
        off: pattern,
        as: { enum: ['reasoning_effort', 'thinking', 'enable_thinking'] },
        words: texts,
      },
    },
    prefill: { enum: PREFILLS },
    prefillAt: {
      type: 'object',
      required: ['path'],
      additionalProperties: false,
      properties: { path: { type: 'string', pattern: '^/' }, fields: { type: 'object' } },
    },
    errorCodes: {
      type: 'object',
      additionalProperties: { enum: ['operator', 'caller', 'rate_limited', 'context_length'] },
    },
    resetHeaders: words,
    modelsPath: { type: 'string', pattern: '^/' },
    listsModels: no,
    provesKey: no,
  },
};
const schema = {
  type: 'object',
  required: ['id', 'name', 'env', 'base_url', 'key_example', 'kinds', 'reference', 'as_of'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', pattern: '^[a-z0-9-]+$' },
    name: text,
    env: { type: 'string', pattern: '^[A-Z]+$' },
    base_url: { type: 'string', pattern: '^https?://.*[^/]$' },
    regions: texts,
    local: { enum: LOCAL_SERVERS },
    key_example: { type: 'string', minLength: 8 },
    kinds: { type: 'array', minItems: 1, items: { enum: PRESET_KINDS } },
    listed_as: { ...words, minItems: 1 },
    reference: { ...words, minItems: 1 },
    as_of: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
    quirks,
    embeddings_refuse: words,
  },
};
const ajv = new Ajv({
  allErrors: true,
  formats: { regex: (value: string) => Boolean(new RegExp(value)) },
});
const validate = ajv.compile(schema);

const folders = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe(loadPresets.name, () => {
  it('returns a vendor for each folder', () => {
    expect(loadPresets().map(({ id }) => id)).toEqual([...folders].sort());
    expect(folders.length).toBeGreaterThan(10);
  });

  it.each(folders)('reads %s, which matches the schema', (folder) => {
    const preset = JSON.parse(
      readFileSync(new URL(`${folder}/preset.json`, FOLDER), 'utf8'),
    ) as Preset;
    validate(preset);
    expect(validate.errors ?? []).toEqual([]);
    expect(preset.id).toBe(folder);
  });

  it.each(presetCatalogues().map((file) => [file.pathname.split('/').at(-2)!, file] as const))(
    'has models of %s, whose prices have a source and a date',
    (folder, file) => {
      const { source, as_of, models } = JSON.parse(readFileSync(file, 'utf8')) as {
        source: string;
        as_of: string;
        models: { id: string; kind?: string }[];
      };
      expect(source).toMatch(/^https:/);
      expect(as_of).toMatch(/^2026-\d\d-\d\d$/);
      for (const { id } of models) expect(id.split('/')[0]).toBe(folder);
      const offered = loadPresets().find(({ id }) => id === folder)!.kinds;
      expect(new Set(models.map(({ kind = 'chat' }) => kind))).toEqual(new Set(offered));
    },
  );
});

describe('the folder that docs/adding-a-provider.md shows', () => {
  const files = filesOfThePage();
  const read = (name: string): unknown =>
    JSON.parse(files.get(`src/vendors/presets/acme/${name}`) ?? 'null');

  it('is complete, and new', () => {
    expect([...files.keys()].sort()).toEqual([
      'src/vendors/presets/acme/models.json',
      'src/vendors/presets/acme/preset.json',
    ]);
    expect(folders).not.toContain('acme');
  });

  it('matches the schema', () => {
    validate(read('preset.json'));
    expect(validate.errors ?? []).toEqual([]);
  });
});

describe('DeepSeek', () => {
  const vendor = loadPresets().find(({ id }) => id === 'deepseek')!;

  /** Returns the URL and body of a call. */
  async function asked(dialect: 'chat' | 'messages', isPrefilled: boolean) {
    const calls: HttpCall[] = [];
    const transport = {
      call: (call: HttpCall) => {
        calls.push(call);
        return Promise.reject(new Error('unreachable'));
      },
    } as unknown as HttpTransport;
    const turns = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hel' },
    ];
    const request =
      dialect === 'chat'
        ? chatRequest({ messages: turns })
        : canonicalRequest({ messages: [says('user', 'Hi'), says('assistant', 'Hel')] });
    const { id, name, type, createAdapter } = vendor;
    const provider = { id, name, type, adapter: id, baseUrl: 'https://x.test', settings: {} };
    const adapter = createAdapter(
      { ...provider, apiKey: 'k' },
      { transport, mediaFetcher: new MediaFetcher({ allowPrivate: false }) },
    );
    const answer = adapter.generate({
      ...mediaCall(speechRequest(''), 'deepseek-v4'),
      request: { ...request, isPrefilled },
      maxOutputTokens: 9,
    });
    await expect(answer[Symbol.asyncIterator]().next()).rejects.toThrow('unreachable');
    const { url, body } = calls[0]!;
    return { path: url.pathname, body: JSON.parse(String(body)) as object };
  }

  it.each(['chat', 'messages'] as const)(
    'continues an assistant message at its beta endpoint, without thinking: %s',
    async (dialect) => {
      const { path, body } = await asked(dialect, true);
      expect(path).toBe('/beta/chat/completions');
      expect(body).toMatchObject({
        messages: [{ role: 'user' }, { role: 'assistant', content: 'Hel', prefix: true }],
        thinking: { type: 'disabled' },
      });
    },
  );

  it('answers anything else at its usual endpoint', async () => {
    const { path, body } = await asked('chat', false);
    expect(path).toBe('/chat/completions');
    expect(body).not.toHaveProperty('thinking');
    expect(JSON.stringify(body)).not.toContain('prefix');
  });
});

describe(vendorOfPreset.name, () => {
  const vendor = vendorOfPreset({
    id: 'acme',
    name: 'Acme',
    env: 'ACME',
    base_url: 'https://api.acme.example/v1',
    regions: { east: 'https://east.acme.example/v1' },
    key_example: '12345678',
    kinds: ['chat'],
    reference: [],
    as_of: '2026-11-23',
  });

  it('is configured by its key alone', () => {
    expect(vendor.account({})).toBeUndefined();
    expect(vendor.account({ ACME_API_KEY: 'k' })).toEqual({ apiKey: 'k' });
    expect(vendor.baseUrl({})).toBe('https://api.acme.example/v1');
  });

  it('is configured by its address if self-hosted, and then not available for BYOK', () => {
    const ollama = loadPresets().find(({ id }) => id === 'ollama')!;
    expect(ollama.account({ OLLAMA_API_KEY: 'k' })).toBeUndefined();
    expect(ollama.account({ OLLAMA_BASE_URL: 'http://x/v1' })).toEqual({ apiKey: undefined });
    expect(ollama).not.toHaveProperty('accountForm');
  });

  it("uses its region's address, or the configured one", () => {
    expect(vendor.baseUrl({ ACME_REGION: 'east' })).toBe('https://east.acme.example/v1');
    expect(vendor.baseUrl({ ACME_REGION: 'east', ACME_BASE_URL: 'http://x' })).toBe('http://x');
  });
});

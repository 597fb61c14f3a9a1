import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProviderConfig } from '../platform/config/app-config.js';
import { ConfigError } from '../platform/config/config-error.js';
import { loadConfig } from '../platform/config/load-config.js';
import { VENDORS } from './vendors.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pools-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const providers = (environment: Record<string, string>) =>
  loadConfig(environment, VENDORS).providers;

function problems(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment, VENDORS);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function fileOf(content: unknown): Record<string, string> {
  const path = join(folder, 'providers.json');
  writeFileSync(path, JSON.stringify(content));
  return { GATEWAY_PROVIDERS: path };
}

const entryOf = (account: Record<string, unknown>, entry: Record<string, unknown> = {}) => ({
  id: 'local',
  name: 'Local',
  base_url: 'http://127.0.0.1:9/v1',
  accounts: [{ id: 'one' }, account],
  ...entry,
});

const idsAndKeys = ({ accounts = [] }: ProviderConfig) =>
  accounts.map(({ id, apiKey, weight }) => [id, apiKey, weight]);

describe('accounts from environment variables', () => {
  it.each([
    ['OPENAI_API_KEY', 'openai'],
    ['ANTHROPIC_API_KEY', 'anthropic'],
    ['FISH_AUDIO_API_KEY', 'fish-audio'],
    ['ELEVENLABS_API_KEY', 'elevenlabs'],
    ['DEEPGRAM_API_KEY', 'deepgram'],
  ])('reads the keys in %s', (variable, id) => {
    const [provider] = providers({ [variable]: 'key-one, key-two,key-three' });
    expect(provider).toMatchObject({ id, apiKey: 'key-one' });
    expect(idsAndKeys(provider!)).toEqual([
      ['1', 'key-one', 1],
      ['2', 'key-two', 1],
      ['3', 'key-three', 1],
    ]);
    const [single] = providers({ [variable]: 'key-one' });
    expect(single?.accounts).toBeUndefined();
  });

  it('creates one account per region or location, each with its own address and the same key', () => {
    const [bedrock, vertex] = providers({
      AWS_REGION: 'us-east-1,eu-west-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      GOOGLE_CLOUD_PROJECT: 'project',
      VERTEX_LOCATION: 'us-central1,global',
    });
    expect(bedrock?.accounts).toEqual([
      { id: 'us-east-1', apiKey: 'secret', weight: 1, settings: { region: 'us-east-1' } },
      { id: 'eu-west-1', apiKey: 'secret', weight: 1, settings: { region: 'eu-west-1' } },
    ]);
    expect(vertex?.accounts?.map(({ settings }) => settings)).toEqual([
      { location: 'us-central1' },
      { location: 'global' },
    ]);
  });

  it.each<[Record<string, string>, string]>([
    [{ OPENAI_API_KEY: 'key-one,,key-two' }, 'OPENAI_API_KEY has an empty entry'],
    [{ OPENAI_API_KEY: 'key-one,' }, 'OPENAI_API_KEY has an empty entry'],
    [{ ANTHROPIC_API_KEY: 'key-one,key-one' }, 'ANTHROPIC_API_KEY has an entry twice'],
    [
      { AWS_REGION: 'a,a', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
      'AWS_REGION has an entry twice',
    ],
    [
      { AWS_REGION: 'a,b', AWS_BEDROCK_ENDPOINT: 'https://x.example' },
      'AWS_BEDROCK_ENDPOINT must not be set when AWS_REGION lists several',
    ],
    [
      { VERTEX_LOCATION: 'a,b', VERTEX_BASE_URL: 'https://x.example' },
      'VERTEX_BASE_URL must not be set when VERTEX_LOCATION lists several',
    ],
  ])('rejects invalid lists without showing their values: %j', (environment, message) => {
    const [problem = ''] = problems(environment);
    expect(problem).toContain(message);
    expect(problem).not.toContain('key-one');
  });
});

describe('accounts in the providers file', () => {
  it('reads keys, limits, models and prices per account', () => {
    const environment = {
      ...fileOf([
        entryOf(
          {
            id: 'eu',
            api_key_env: 'EU_KEY',
            base_url: 'https://eu.example/v1/',
            settings: { responses: 'true' },
            weight: 3,
            requests_per_minute: 500,
            tokens_per_minute: 200_000,
            models: ['local/a', 'local/b*'],
            prices: { 'local/a': { prompt: '0.000001', completion: '0.000002' } },
          },
          { api_key_env: 'MAIN_KEY' },
        ),
      ]),
      MAIN_KEY: 'main-key',
      EU_KEY: 'eu-key',
    };
    const [provider] = providers(environment);
    expect(provider).toMatchObject({ id: 'local', apiKey: 'main-key' });
    expect(provider?.accounts).toEqual([
      { id: 'one', apiKey: 'main-key', weight: 1, settings: {} },
      {
        id: 'eu',
        apiKey: 'eu-key',
        baseUrl: 'https://eu.example/v1',
        settings: { responses: 'true' },
        weight: 3,
        requestsPerMinute: 500,
        tokensPerMinute: 200_000,
        models: ['local/a', 'local/b*'],
        prices: { 'local/a': { prompt: '0.000001', completion: '0.000002' } },
      },
    ]);
  });

  it('creates a pool for a vendor that has no account from variables', () => {
    const file = fileOf([
      {
        id: 'bedrock',
        name: 'AWS Bedrock',
        api_key_env: 'SECRET',
        settings: { accessKeyId: 'id' },
        accounts: [
          { id: 'us', region: 'us-east-1' },
          { id: 'eu', region: 'eu-west-1', weight: 2 },
        ],
      },
    ]);
    const config = loadConfig({ ...file, SECRET: 'secret' }, VENDORS);
    expect(config.providers).toMatchObject([{ id: 'bedrock', adapter: 'bedrock', baseUrl: '' }]);
    expect(config.providers[0]?.accounts?.map(({ settings }) => settings)).toEqual([
      { region: 'us-east-1' },
      { region: 'eu-west-1' },
    ]);
    const offered = config.ownAccountProviders.filter(({ id }) => id === 'bedrock');
    expect(offered).toHaveLength(1);
    expect(JSON.stringify(config.ownAccountProviders)).not.toContain('secret');
    const taken = problems({
      ...file,
      SECRET: 'secret',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'other',
    });
    expect(taken).toEqual([expect.stringContaining('0.id "bedrock" is built in')]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{}, 'accounts.1.id must be 1 to 64 of'],
    [{ id: 'a@b' }, 'accounts.1.id must be 1 to 64 of'],
    [{ id: 'one' }, 'accounts.1.id "one" is used twice'],
    [{ id: 'two', api_key: 'sk-in-the-file' }, 'accounts.1.api_key must not be in a file'],
    [{ id: 'two', api_key_env: 'NOT_SET' }, 'accounts.1.api_key_env names the variable NOT_SET'],
    [{ id: 'two', base_url: 'eu.example' }, 'accounts.1.base_url must be a URL'],
    [{ id: 'two', weight: 0 }, 'accounts.1.weight must be an integer from 1'],
    [{ id: 'two', weight: 1.5 }, 'accounts.1.weight must be an integer from 1'],
    [{ id: 'two', requests_per_minute: 0 }, 'accounts.1.requests_per_minute must be an integer'],
    [{ id: 'two', tokens_per_minute: '9' }, 'accounts.1.tokens_per_minute must be an integer'],
    [{ id: 'two', models: [] }, 'accounts.1.models must be a list of 1 to 1000'],
    [{ id: 'two', models: 'local/a' }, 'accounts.1.models must be a list of 1 to 1000'],
    [{ id: 'two', region: 'eu' }, 'accounts.1.region must be left out'],
    [{ id: 'two', settings: { a: 1 } }, 'accounts.1.settings must be an object'],
    [{ id: 'two', prices: { 'local/a': { promt: '1' } } }, 'accounts.1.prices must be an object'],
    [{ id: 'two', prices: { 'local/a': { prompt: '1' } } }, 'accounts.1.prices must be an object'],
    [{ id: 'two', prices: { 'local/a': { prompt: -1 } } }, 'accounts.1.prices must be an object'],
    [{ id: 'two', requests: 5 }, 'accounts.1.requests is not a known field'],
  ])('rejects an invalid account and names the field: %j', (account, message) => {
    const found = problems(fileOf([entryOf(account)]));
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found.join()).not.toContain('sk-in-the-file');
  });

  it.each([
    [[], '0.accounts must be a list of 1 to 100 accounts'],
    ['one', '0.accounts must be a list of 1 to 100 accounts'],
    [['one'], '0.accounts must be a list of 1 to 100 accounts'],
  ])('rejects an invalid list: %j', (accounts, message) => {
    const found = problems(fileOf([entryOf({}, { accounts })]));
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  it('requires an address when the vendor has no default one', () => {
    const found = problems(fileOf([entryOf({ id: 'two' }, { base_url: undefined })]));
    expect(found).toEqual([expect.stringContaining('0.base_url must be a URL')]);
  });
});

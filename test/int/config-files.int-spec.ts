import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBootstrapFile } from '../../src/app/bootstrap/read-bootstrap-file.js';
import { loadCatalogue } from '../../src/core/catalogue/load-catalogue.js';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { gatewaySecrets, writeSecretFile } from '../../src/platform/config/gateway-secret.js';
import { loadSettings } from '../../src/app/load-settings.js';

describe('the files that settings name', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  function write(content: unknown): string {
    const path = join(folder, 'file.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  function problemsOf(work: () => unknown): readonly string[] {
    try {
      work();
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  }

  it.each([
    ['{nope', 'GATEWAY_CATALOGUE names a file that is not valid JSON'],
    ['null', 'GATEWAY_CATALOGUE must name a file with {"models": […]} or a list of rows'],
    ['{"models":[1]}', 'GATEWAY_CATALOGUE must name a file with {"models": […]} or a list of rows'],
  ])('GATEWAY_CATALOGUE with %j', (content, problem) => {
    expect(problemsOf(() => loadCatalogue(write(content)))).toEqual([problem]);
  });

  describe('GATEWAY_PROVIDERS', () => {
    const entry = { id: 'local', name: 'Local server', base_url: 'http://127.0.0.1:9/v1/' };
    const load = (content: unknown, environment: NodeJS.ProcessEnv = {}) =>
      loadSettings({ ...environment, GATEWAY_PROVIDERS: write(content) });

    it('adds providers that speak the OpenAI dialect', () => {
      const config = load(
        [
          { ...entry, api_key_env: 'LOCAL_KEY' },
          { ...entry, id: 'other-1', pass_unknown_fields: true },
        ],
        {
          LOCAL_KEY: 'a-vendor-key',
        },
      );
      expect(config.providers).toEqual([
        {
          id: 'local',
          name: 'Local server',
          adapter: 'openai',
          isDeclared: true,
          type: 'openai',
          baseUrl: 'http://127.0.0.1:9/v1',
          apiKey: 'a-vendor-key',
          settings: {},
          knownFieldsOnly: true,
        },
        expect.objectContaining({ id: 'other-1', apiKey: undefined, knownFieldsOnly: false }),
      ]);
    });

    it('also reads an entry’s key from a file, even if a vendor has the same variable', () => {
      const key = join(folder, 'key');
      writeFileSync(key, 'a-vendor-key\n');
      for (const name of ['LOCAL_KEY', 'OPENAI_API_KEY']) {
        const config = load([{ ...entry, api_key_env: name }], { [`${name}_FILE`]: key });
        const local = config.providers.find(({ id }) => id === 'local');
        expect(local?.apiKey).toBe('a-vendor-key');
      }
      const problems = problemsOf(() =>
        load([{ ...entry, api_key_env: 'LOCAL_KEY' }], { LOCAL_KEY_FILE: '/nowhere' }),
      );
      expect(problems).toEqual([
        'GATEWAY_PROVIDERS: 0.api_key_env names a variable that cannot be read: ' +
          'LOCAL_KEY_FILE names a file that cannot be read (ENOENT)',
      ]);
    });

    it.each([
      ['{', 'GATEWAY_PROVIDERS names a file that is not valid JSON'],
      [{}, 'GATEWAY_PROVIDERS must name a file with an array of providers'],
      [['local'], 'GATEWAY_PROVIDERS: 0 must be an object'],
      [[{ ...entry, pass_unknown_fields: 'yes' }], '0.pass_unknown_fields must be true or false'],
      [[entry, { ...entry, id: 'A_B' }], 'GATEWAY_PROVIDERS: 1.id must be made of a-z, 0-9 and -'],
      [[{ ...entry, id: 'openai' }], 'GATEWAY_PROVIDERS: 0.id "openai" is built in or used twice'],
      [[{ ...entry, id: 'vertex' }], 'GATEWAY_PROVIDERS: 0.id "vertex" is built in or used twice'],
      [[entry, entry], 'GATEWAY_PROVIDERS: 1.id "local" is built in or used twice'],
      [[{ ...entry, name: '' }], 'GATEWAY_PROVIDERS: 0.name must have 1 to 255 characters'],
      [[{ ...entry, base_url: 'local:80' }], 'GATEWAY_PROVIDERS: 0.base_url must be a URL'],
      [
        [{ ...entry, settings: { prefill: 'yes' } }],
        'GATEWAY_PROVIDERS: 0.settings.prefill must be one of prefix, partial, continue_final_message, plain',
      ],
      [[{ ...entry, baseUrl: 'x' }], 'GATEWAY_PROVIDERS: 0.baseUrl is not a known field'],
      [
        [{ ...entry, api_key_env: 'UNSET' }],
        'GATEWAY_PROVIDERS: 0.api_key_env names the variable UNSET',
      ],
    ])('describes the problem with %j', (content, problem) => {
      expect(problemsOf(() => load(content))).toEqual([expect.stringContaining(problem)]);
    });
  });

  describe('GATEWAY_BOOTSTRAP_FILE', () => {
    const key = { type: 'routing', key: 'sk-declared-key-1' };
    const tenant = { name: 'acme', credits: 5, keys: [key] };
    const read = (content: unknown) => readBootstrapFile(write(content), { rateLimitPerMinute: 9 });

    it('declares tenants and their keys', () => {
      const managementKey = {
        type: 'management',
        key: 'sk-mgmt-declared-1',
        name: 'Ops',
        rate_limit_per_minute: 70,
      };
      expect(read({ tenants: [{ ...tenant, keys: [key, managementKey] }] })).toEqual([
        {
          name: 'acme',
          credits: 5,
          keys: [
            {
              type: 'routing',
              plaintext: 'sk-declared-key-1',
              name: 'routing key',
              rateLimitPerMinute: 9,
              source: 'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.0.key',
            },
            {
              type: 'management',
              plaintext: 'sk-mgmt-declared-1',
              name: 'Ops',
              rateLimitPerMinute: 70,
              source: 'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.1.key',
            },
          ],
        },
      ]);
    });

    it.each([
      ['[', 'GATEWAY_BOOTSTRAP_FILE names a file that is not valid JSON'],
      [[tenant], 'GATEWAY_BOOTSTRAP_FILE must name a file with an object'],
      [{}, 'GATEWAY_BOOTSTRAP_FILE: tenants must be an array'],
      [{ tenants: [null] }, 'GATEWAY_BOOTSTRAP_FILE: tenants.0 must be an object'],
      [{ tenants: ['acme'] }, 'GATEWAY_BOOTSTRAP_FILE: tenants.0 must be an object'],
      [{ tenants: [tenant], x: 1 }, 'GATEWAY_BOOTSTRAP_FILE: x is not a known field'],
      [
        { tenants: [tenant, { ...tenant, keys: [] }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.1.name is declared twice',
      ],
      [{ tenants: [{ ...tenant, name: '' }] }, 'GATEWAY_BOOTSTRAP_FILE: tenants.0.name must be'],
      [
        { tenants: [{ ...tenant, credits: -1 }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.credits must be',
      ],
      [
        { tenants: [{ ...tenant, credits: '5' }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.credits must be',
      ],
      [{ tenants: [{ ...tenant, keys: {} }] }, 'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys must be'],
      [
        { tenants: [{ ...tenant, keys: [{ ...key, type: 'admin' }] }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.0.type must be routing or management',
      ],
      [
        { tenants: [{ ...tenant, keys: [{ ...key, rate_limit_per_minute: 0 }] }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.0.rate_limit_per_minute must be',
      ],
      [
        { tenants: [{ ...tenant, keys: [{ ...key, key: 'sk-short-secret' }] }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.0.key must start with "sk-"',
      ],
      [
        { tenants: [{ ...tenant, keys: [{ ...key, type: 'management' }] }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.0.keys.0.key must start with "sk-mgmt-"',
      ],
      [
        { tenants: [tenant, { ...tenant, name: 'other' }] },
        'GATEWAY_BOOTSTRAP_FILE: tenants.1.keys.0.key is declared twice',
      ],
    ])('describes the problem with %j, without repeating a key', (content, problem) => {
      const problems = problemsOf(() => read(content));
      expect(problems).toEqual([expect.stringContaining(problem)]);
      expect(problems[0]).not.toMatch(/declared-key|short-secret/);
    });
  });

  describe('the secret of an embedded database', () => {
    const settings = { secret: undefined, secretFile: undefined, previousSecrets: [] };

    it('is created once, readable by its owner only', () => {
      const dataDirectory = join(folder, 'new', 'data');
      const [secret] = gatewaySecrets({ ...settings, dataDirectory });
      expect(secret!.length).toBeGreaterThanOrEqual(32);
      expect(gatewaySecrets({ ...settings, dataDirectory })).toEqual([secret]);
      expect(statSync(join(dataDirectory, 'secret')).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(dataDirectory, 'secret'), 'utf8').trim()).toBe(secret);
      expect(readdirSync(dataDirectory)).toEqual(['secret']);
    });

    it('is read again when its file changes, followed by previous ones', () => {
      const dataDirectory = join(folder, 'rotated');
      const [first] = gatewaySecrets({ ...settings, dataDirectory });
      const second = 'the-second-secret-of-32-characters-or-so';
      writeSecretFile(join(dataDirectory, 'secret'), [second, first!]);
      const previousSecrets = ['configured-previous'];
      expect(gatewaySecrets({ ...settings, dataDirectory, previousSecrets })).toEqual([
        second,
        first,
        'configured-previous',
      ]);
      expect(statSync(join(dataDirectory, 'secret')).mode & 0o777).toBe(0o600);
      expect(readdirSync(dataDirectory)).toEqual(['secret']);
    });

    it('yields to a configured one', () => {
      const dataDirectory = join(folder, 'unused');
      expect(gatewaySecrets({ ...settings, secret: 'configured', dataDirectory })).toEqual([
        'configured',
      ]);
      expect(() => statSync(dataDirectory)).toThrow('ENOENT');
    });

    it('is not created where a file was named', () => {
      const secretFile = join(folder, 'not-there');
      expect(
        problemsOf(() => gatewaySecrets({ ...settings, secretFile, dataDirectory: folder })),
      ).toHaveLength(1);
      expect(() => statSync(secretFile)).toThrow('ENOENT');
    });

    it('is rejected when its file was damaged', () => {
      writeFileSync(join(folder, 'secret'), 'short\n');
      expect(problemsOf(() => gatewaySecrets({ ...settings, dataDirectory: folder }))).toHaveLength(
        1,
      );
    });
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { IsOptional } from 'class-validator';
import { checked, Describe, UrlVariable } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import type { Preset } from './preset.js';
import { PresetAdapter } from './preset.adapter.js';

const FOLDERS = new URL('./', import.meta.url);

type Env = Readonly<Record<string, string | undefined>>;

/** Loads the vendors in the folders next to this file, sorted by id. */
export function loadPresets(): Vendor[] {
  return presetFolders().map((folder) => {
    const text = readFileSync(new URL(`${folder}/preset.json`, FOLDERS), 'utf8');
    // These files are part of the program, and a test checks them against the schema.
    return vendorOfPreset(JSON.parse(text) as Preset);
  });
}

/** Returns the files with the presets' catalogue rows; self-hosted servers have none. */
export function presetCatalogues(): URL[] {
  return presetFolders()
    .map((folder) => new URL(`${folder}/models.json`, FOLDERS))
    .filter((file) => existsSync(file));
}

function presetFolders(): string[] {
  return readdirSync(FOLDERS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

export function vendorOfPreset(preset: Preset): Vendor<Env> {
  const { id, name, env: prefix, kinds, regions, local } = preset;
  return {
    id,
    name,
    // Listed under the type whose API callers use.
    type: 'openai',
    kinds,
    ...(preset.listed_as && { listedAs: preset.listed_as }),
    Variables: variablesOf(preset),
    baseUrl: (env) =>
      env[`${prefix}_BASE_URL`] ?? regions?.[env[`${prefix}_REGION`] ?? ''] ?? preset.base_url,
    account: (env) => {
      const apiKey = env[`${prefix}_API_KEY`];
      const isThere = local === undefined ? apiKey : env[`${prefix}_BASE_URL`];
      return isThere ? { apiKey } : undefined;
    },
    ...(local === undefined && { accountForm: KEY_ONLY }),
    createAdapter: (provider, { transport, mediaFetcher }) =>
      new PresetAdapter(preset, provider, transport, mediaFetcher),
  };
}

/** Builds the class of its variables, which other vendors declare in code. */
function variablesOf({
  id,
  env,
  local,
  base_url: address,
  regions,
  key_example: example,
}: Preset): new () => Env {
  const Variables = class implements Env {
    [name: string]: string | undefined;
  };
  const describe = (name: string, ...decorators: PropertyDecorator[]): void => {
    for (const decorate of decorators.reverse()) decorate(Variables.prototype, `${env}_${name}`);
  };
  if (local !== undefined) {
    describe(
      'BASE_URL',
      Describe(`Base URL, including \`/v1\`; configures the provider \`${id}\``, {
        example: address,
      }),
      UrlVariable('http', 'https'),
    );
    const without = 'none is sent';
    describe(
      'API_KEY',
      Describe('API key of the server', { example, without, isSecret: true }),
      IsOptional(),
    );
    return Variables;
  }
  describe(
    'API_KEY',
    Describe(`The API key; configures the provider \`${id}\``, { example, isSecret: true }),
    IsOptional(),
  );
  describe(
    'BASE_URL',
    Describe('Base URL without `/chat/completions`', {
      default: address,
      example: 'https://proxy.example/v1',
    }),
    UrlVariable('http', 'https'),
  );
  if (!regions) return Variables;
  const names = Object.keys(regions);
  describe(
    'REGION',
    Describe('Region to call when no base URL is set', {
      without: `the default base URL`,
      example: names[0]!,
    }),
    checked('isRegion', `must be ${names.join(' or ')}`, (value) => names.includes(value)),
  );
  return Variables;
}

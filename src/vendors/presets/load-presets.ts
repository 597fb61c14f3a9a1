import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { IsOptional } from 'class-validator';
import { checked, Describe, UrlVariable } from '../../platform/config/variable.decorators.js';
import { KEY_ONLY, type Vendor } from '../vendor.js';
import type { Preset } from './preset.js';
import { PresetAdapter } from './preset.adapter.js';

const FOLDERS = new URL('./', import.meta.url);

type Env = Readonly<Record<string, string | undefined>>;

/** The vendors that are a folder beside this file, by their ids. */
export function loadPresets(): Vendor[] {
  return presetFolders().map((folder) => {
    const text = readFileSync(new URL(`${folder}/preset.json`, FOLDERS), 'utf8');
    // Files of the program, which the spec beside this holds to the schema.
    return vendorOfPreset(JSON.parse(text) as Preset);
  });
}

/** Where the presets' rows of the catalogue are; one that has none is none's. */
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
    // It is listed by the kind whose API callers use.
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

/** The class of its variables, as other vendors write it down. */
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
      Describe(`Where it is, \`/v1\` included; configures the provider \`${id}\``, {
        example: address,
      }),
      UrlVariable('http', 'https'),
    );
    const without = 'none is sent';
    describe('API_KEY', Describe('Its key', { example, without, isSecret: true }), IsOptional());
    return Variables;
  }
  describe(
    'API_KEY',
    Describe(`The API key; configures the provider \`${id}\``, { example, isSecret: true }),
    IsOptional(),
  );
  describe(
    'BASE_URL',
    Describe('Base URL, which ends where `/chat/completions` begins', {
      default: address,
      example: 'https://proxy.example/v1',
    }),
    UrlVariable('http', 'https'),
  );
  if (!regions) return Variables;
  const names = Object.keys(regions);
  describe(
    'REGION',
    Describe('Which of its regions is called, where there is no base URL', {
      without: `the default base URL`,
      example: names[0]!,
    }),
    checked('isRegion', `must be ${names.join(' or ')}`, (value) => names.includes(value)),
  );
  return Variables;
}

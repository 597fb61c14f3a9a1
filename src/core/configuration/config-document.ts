import {
  builtInRows,
  mergeRows,
  toCatalogue,
  type CatalogueRows,
} from '../catalogue/load-catalogue.js';
import {
  canonicalCatalogue,
  canonicalJson,
  canonicalRows,
  fingerprintOfText,
} from '../catalogue/canonical-json.js';
import type { AppConfig, AccountEntry, ProviderEntry } from '../../platform/config/app-config.js';
import { checkProviders, toProvider } from '../../platform/config/configured-providers.js';
import {
  normalSettings,
  problemsOfSettings,
  type SettingValues,
} from '../../platform/config/live-settings.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { isMetadataHost } from '../../platform/http/public-address.js';
import { readPlainKey } from '../../vendors/vendor.js';
import { ambientFaultOf, faultOfProvider, VENDORS } from '../../vendors/vendors.js';

const MAX_SHOWN_PROBLEMS = 10;

/** NUL escaped in JSON, which `jsonb` rejects. */
const UNSTORABLE = /\\u(?:0000|d[89a-f][\da-f]{2})/i;

/** The contents of a version. */
export interface ConfigDocument {
  /** Rows that override the built-in catalogue, as in a catalogue file. */
  readonly models: readonly JsonObject[];
  readonly providers: readonly StoredProvider[];
  /** By variable name. */
  readonly settings: SettingValues;
}

/** A provider in a version; its keys are stored separately, encrypted. */
export interface StoredProvider extends Omit<ProviderEntry, 'accounts'> {
  readonly api_key?: StoredKey;
  readonly accounts?: readonly StoredAccount[];
}

export interface StoredAccount extends AccountEntry {
  readonly api_key?: StoredKey;
}

export interface StoredKey {
  readonly id: string;
  /** Preview of the key for display. */
  readonly preview: string;
}

/** A document submitted as the next version: as written, and validated. */
export interface GivenDocument {
  readonly models: readonly JsonObject[];
  readonly providers: readonly GivenProvider[];
  readonly settings: SettingValues;
}

/** A provider with its key: null for none, absent to keep the previous one. Accounts likewise. */
interface GivenProvider extends Omit<ProviderEntry, 'accounts'> {
  readonly api_key?: string | null;
  readonly accounts?: readonly GivenAccount[];
}

export interface GivenAccount extends AccountEntry {
  readonly api_key?: string | null;
}

export const EMPTY_DOCUMENT: ConfigDocument = { models: [], providers: [], settings: {} };

/** A document for display, which can be submitted again; shows only previews of keys. */
export function shownDocument({ models, providers, settings }: ConfigDocument) {
  return { models, providers: providers.map(shownProvider), settings };
}

function shownProvider({ accounts, ...provider }: StoredProvider) {
  return { ...shownKey(provider), ...(accounts && { accounts: accounts.map(shownKey) }) };
}

function shownKey<Holder extends { api_key?: StoredKey }>({ api_key: key, ...entry }: Holder) {
  return { ...entry, ...(key && { api_key_preview: key.preview }) };
}

/** A problem and its location: `models`, `providers.<id>.<field>` or `settings.<name>`. */
export interface ConfigProblem {
  readonly param: string;
  readonly message: string;
}

/** The document is invalid. Nothing was stored. */
export class BadConfigError extends InvalidRequestError {
  constructor(readonly problems: readonly ConfigProblem[]) {
    const shown = problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ message }) => message);
    const more = problems.length - shown.length;
    const end = more > 0 ? `; and ${more} more` : '';
    super(
      problems[0]?.param ?? 'document',
      `The configuration was not changed: ${shown.join('; ')}${end}.`,
    );
  }
}

/** Returns the complete catalogue of a document: the built-in rows overridden by its own. */
export function catalogueOf({ models }: Pick<ConfigDocument, 'models'>): CatalogueRows {
  return mergeRows(builtInRows(), models);
}

let builtIn: string | undefined;

/** Returns the fingerprint of the built-in rows. */
export function builtInFingerprint(): string {
  return (builtIn ??= fingerprintOfText(canonicalRows(builtInRows())));
}

/** Returns a fingerprint of the configuration in force, equal on instances that behave alike. Contains no secrets. */
export function configFingerprint(
  catalogue: CatalogueRows,
  providers: readonly StoredProvider[],
  settings: SettingValues,
): string {
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1);
  return fingerprintOfText(
    `{"providers":${canonicalJson([...providers].sort(byId))},` +
      `"rows":${canonicalCatalogue(catalogue)},"settings":${canonicalJson(settings)}}`,
  );
}

/**
 * Validates a document by the rules for files and variables.
 *
 * @param value `{models?, providers?, settings?}`; absent members are empty
 * @throws BadConfigError naming every invalid row and field
 */
export function readDocument(value: unknown, config: AppConfig): GivenDocument {
  const problems: ConfigProblem[] = [];
  if (UNSTORABLE.test(JSON.stringify(value) ?? '')) {
    const message = 'it has a NUL or half a character in it';
    throw new BadConfigError([{ param: 'document', message }]);
  }
  if (!isJsonObject(value)) {
    throw new BadConfigError([{ param: 'document', message: 'it must be a JSON object' }]);
  }
  for (const name of Object.keys(value)) {
    if (['models', 'providers', 'settings'].includes(name)) continue;
    problems.push({
      param: name,
      message: `${name} is not part of a configuration. Its members are models, providers and settings`,
    });
  }
  const document = {
    models: readModels(value.models ?? [], problems),
    providers: readProviders(value.providers ?? [], problems),
    settings: readSettings(value.settings ?? {}, config, problems),
  };
  if (problems.length > 0) throw new BadConfigError(problems);
  return { ...document, settings: normalSettings(document.settings) };
}

function readModels(value: unknown, problems: ConfigProblem[]): JsonObject[] {
  const param = 'models';
  if (!Array.isArray(value) || !value.every(isJsonObject)) {
    problems.push({ param, message: 'models must be a list of catalogue rows' });
    return [];
  }
  const rows = value.filter(isJsonObject);
  const seen = new Set<unknown>();
  for (const [index, row] of rows.entries()) {
    const { id, removed } = row;
    if (typeof id !== 'string' || id === '') {
      problems.push({ param, message: `models: row ${index} must have an id` });
    } else if (seen.has(id)) {
      problems.push({ param, message: `models: ${id} appears twice` });
    } else if (removed !== undefined && (removed !== true || Object.keys(row).length > 2)) {
      const message = `models: ${id}: a row with removed has "removed": true and no other field besides its id`;
      problems.push({ param, message });
    }
    seen.add(id);
  }
  const faults = toCatalogue(
    new Map([...catalogueOf({ models: rows })].filter(([id]) => seen.has(id))),
  );
  for (const problem of faults.problems) problems.push({ param, message: `models: ${problem}` });
  return rows;
}

/** @param problems receives the invalid entries */
export function readProviders(value: unknown, problems: ConfigProblem[]): GivenProvider[] {
  if (!Array.isArray(value)) {
    problems.push({ param: 'providers', message: 'providers must be a list' });
    return [];
  }
  const nameOf = (index: number): string => {
    const one: unknown = value[index];
    return isJsonObject(one) && typeof one.id === 'string' ? one.id : String(index);
  };
  const complain = (index: number, field: string, message: string): void => {
    const param = `providers.${nameOf(index)}${field && `.${field}`}`;
    problems.push({ param, message: `${param} ${message}` });
  };
  const keys = value.map((one: unknown, index) => ({
    own: readKey(one, (fault) => complain(index, 'api_key', fault)),
    ofAccounts: accountsIn(one).map((account, position) =>
      readKey(account, (fault) => complain(index, `accounts.${position}.api_key`, fault)),
    ),
  }));
  const plain = value.map((one: unknown) => {
    const entry = withoutKeys(one);
    if (!isJsonObject(entry) || !Array.isArray(entry.accounts)) return entry;
    return { ...entry, accounts: entry.accounts.map(withoutKeys) };
  });
  for (const [index, one] of plain.entries()) {
    refuseAddress(one, (field, fault) => complain(index, field, fault));
    for (const [position, account] of accountsIn(one).entries()) {
      refuseAddress(account, (field, fault) =>
        complain(index, `accounts.${position}.${field}`, fault),
      );
    }
  }
  const checked = checkProviders(plain, VENDORS, complain, { mayBeVendors: true });
  return checked.map((entry) => {
    const { own, ofAccounts } = keys[plain.indexOf(entry)]!;
    const { accounts, ...provider } = entry;
    const given = accounts?.map((account, position): GivenAccount => {
      const key = ofAccounts[position];
      return { ...account, ...(key !== undefined && { api_key: key }) };
    });
    return {
      ...provider,
      ...(own !== undefined && { api_key: own }),
      ...(given && { accounts: given }),
    };
  });
}

/**
 * Returns the providers whose adapter cannot be built, found by building it, and those that would send this
 * machine's credentials elsewhere. The latter is allowed for a provider that is unchanged or declared by a
 * file: instances without that file do not call it.
 *
 * @param document as it will be stored
 * @param before the latest version
 * @param declared providers declared by files on this machine
 */
export function problemsOfAdapters(
  { providers }: ConfigDocument,
  before: ConfigDocument,
  declared: readonly ProviderEntry[],
): ConfigProblem[] {
  return providers.flatMap((stored) => {
    const { api_key: key, accounts, ...entry } = stored;
    const known = before.providers.find(({ id }) => id === entry.id);
    const isDeclared =
      declared.some(({ id }) => id === entry.id) ||
      (known !== undefined && canonicalJson(known) === canonicalJson(stored));
    const own = placeholderOf({ ...entry, ...(key && { api_key: key }) });
    const ofAccounts = accounts?.map((account) => placeholderOf(account) ?? own);
    const plain = accounts?.map(({ api_key: _, ...account }) => account);
    const whole = { ...entry, ...(plain && { accounts: plain }) };
    const provider = { ...toProvider(whole, own, VENDORS, ofAccounts), isDeclared };
    const fault = faultOfProvider(provider) ?? ambientFaultOf(provider);
    const param = `providers.${entry.id}`;
    return fault === undefined ? [] : [{ param, message: `${param}: ${fault}` }];
  });
}

/** Placeholder key, since constructors accept any. */
function placeholderOf(holder: Pick<StoredAccount, 'api_key' | 'api_key_env'>): string | undefined {
  return holder.api_key || holder.api_key_env !== undefined ? 'stored' : undefined;
}

function accountsIn(one: unknown): readonly unknown[] {
  return isJsonObject(one) && Array.isArray(one.accounts) ? one.accounts : [];
}

/** Ignores the preview of a key, which does not say what the key should be. */
function withoutKeys(one: unknown): unknown {
  if (!isJsonObject(one)) return one;
  const { api_key: _key, api_key_preview: _preview, ...entry } = one;
  return entry;
}

/** Rejects addresses with credentials, since everyone who reads the configuration sees addresses. */
function refuseAddress(one: unknown, complain: (field: string, fault: string) => void): void {
  if (!isJsonObject(one) || typeof one.base_url !== 'string') return;
  const { base_url: text } = one;
  if (!URL.canParse(text)) return;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    complain(
      'base_url',
      'must not contain credentials, which every reader would see; send api_key',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    complain('base_url', 'must not contain a query or fragment: paths are appended to it');
  }
  if (isMetadataHost(url)) {
    complain('base_url', 'must not be a link-local address or a metadata service');
  }
}

function readKey(one: unknown, complain: (fault: string) => void): string | null | undefined {
  if (!isJsonObject(one)) return undefined;
  const { api_key: key, api_key_env: variable } = one;
  if (key === undefined || key === null) return key;
  if (variable !== undefined) complain('and api_key_env are mutually exclusive');
  const read = typeof key === 'string' ? readPlainKey(key) : { fault: 'must be a string or null' };
  if ('fault' in read) complain(read.fault);
  return 'key' in read ? read.key : undefined;
}

function readSettings(value: unknown, config: AppConfig, problems: ConfigProblem[]): SettingValues {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const plain = entries.flatMap(([name, one]) =>
    typeof one === 'string' || typeof one === 'number' ? [[name, one] as const] : [],
  );
  if (!isJsonObject(value) || plain.length < entries.length) {
    const message = 'settings must be an object of strings and numbers by variable name';
    problems.push({ param: 'settings', message });
    return {};
  }
  const settings = Object.fromEntries(plain);
  for (const problem of problemsOfSettings(settings, config)) {
    const [name = ''] = problem.split(' ', 1);
    problems.push({ param: `settings.${name}`, message: `settings: ${problem}` });
  }
  return settings;
}

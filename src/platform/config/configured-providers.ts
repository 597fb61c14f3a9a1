import { plainToInstance } from 'class-transformer';
import type { AccountEntry, ProviderConfig, ProviderEntry } from './app-config.js';
import { CheckedEntry } from './checked-entry.js';
import {
  accountsOfVariables,
  checkAccounts,
  toAccount,
  vendorOfEntry,
  withAccounts,
} from './pool-accounts.js';
import { withoutTrailingSlash } from './setting-values.js';
import type { VendorSettings } from './vendor-settings.js';
import { findViolations, readJsonFile } from './config-error.js';
import { readSecret } from './secret-files.js';
import { messageOf } from '../errors/thrown.js';

const VARIABLE = 'GATEWAY_PROVIDERS';

/** A vendor with its environment variables. */
interface VendorEnv {
  readonly vendor: VendorSettings;
  readonly env: object;
}

/** Reads each vendor's variables without validating them. */
export function readVendors(
  vendors: readonly VendorSettings[],
  environment: Readonly<Record<string, string | undefined>>,
): VendorEnv[] {
  return vendors.map((vendor) => ({
    vendor,
    env: vendor.Variables ? plainToInstance(vendor.Variables, environment) : {},
  }));
}

/** Returns the providers in listing order: vendors with credentials, the operator's own, and the stand-in when enabled or when nothing else is configured. */
export function configuredProviders(
  vendors: readonly VendorEnv[],
  furtherProviders: readonly ProviderConfig[],
  sandbox: 'true' | 'false' | undefined,
): ProviderConfig[] {
  const own = vendors.filter(({ vendor }) => vendor.isStandIn !== true).flatMap(operatorsProvider);
  const configured = [...own, ...furtherProviders];
  const isOn = sandbox ? sandbox === 'true' : configured.length === 0;
  if (!isOn) return configured;
  const standIns = vendors.filter(({ vendor }) => vendor.isStandIn === true);
  return [...configured, ...standIns.flatMap(operatorsProvider)];
}

/**
 * Returns the providers that accept BYOK accounts: every vendor, at the operator's address if set, and the operator's own
 * providers that need a key. Without keys and account settings.
 */
export function ownAccountProviders(
  vendors: readonly VendorEnv[],
  furtherProviders: readonly ProviderConfig[],
): ProviderConfig[] {
  const own = new Set(vendors.map(({ vendor }) => vendor.id));
  return [
    ...vendors.filter(({ vendor }) => vendor.accountForm !== undefined).map(vendorsProvider),
    ...furtherProviders
      .filter((provider) => takesOwnAccounts(provider) && !own.has(provider.id))
      .map(withoutKey),
  ];
}

/** Returns whether an additional provider accepts BYOK accounts. */
export function takesOwnAccounts({ takesOwnAccounts: declared, apiKey }: ProviderConfig): boolean {
  return declared ?? apiKey !== undefined;
}

export function withoutKey(provider: ProviderConfig): ProviderConfig {
  const { accounts: _, ...rest } = provider;
  return { ...rest, apiKey: undefined };
}

/** The vendor without an account. */
function vendorsProvider({ vendor, env }: VendorEnv): ProviderConfig {
  return {
    id: vendor.id,
    name: vendor.name,
    adapter: vendor.id,
    type: vendor.type,
    baseUrl: withoutTrailingSlash(vendor.baseUrl(env)),
    apiKey: undefined,
    settings: {},
  };
}

/** The vendor with the operator's account, if any. */
function operatorsProvider(given: VendorEnv): ProviderConfig[] {
  const account = given.vendor.account(given.env);
  if (!account) return [];
  const provider = vendorsProvider(given);
  const { apiKey, settings = {}, baseUrl = provider.baseUrl } = account;
  const address = withoutTrailingSlash(baseUrl);
  const whole = { ...provider, apiKey, settings, baseUrl: address, isDeclared: true };
  return [withAccounts(whole, accountsOfVariables(given.vendor, account))];
}

/** The operator's additional providers and their declared entries. */
export interface DeclaredProviders {
  readonly providers: readonly ProviderConfig[];
  readonly entries: readonly ProviderEntry[];
}

/**
 * Reads the operator's additional providers, servers that speak a vendor's dialect. Adds faults of the file to
 * `problems`, each naming the entry and field.
 *
 * @param vendors whose ids are reserved, configured or not
 */
export function readProvidersFile(
  path: string,
  known: readonly VendorEnv[],
  environment: NodeJS.ProcessEnv,
  problems: string[],
): DeclaredProviders {
  const vendors = known.map(({ vendor }) => vendor);
  let content: unknown;
  try {
    content = readJsonFile(path);
  } catch (error) {
    problems.push(`${VARIABLE} ${messageOf(error)}`);
    return { providers: [], entries: [] };
  }
  if (!Array.isArray(content)) {
    problems.push(`${VARIABLE} must name a file with an array of providers`);
    return { providers: [], entries: [] };
  }
  const complain: Complain = (index, field, message) =>
    problems.push(`${VARIABLE}: ${index}${field && `.${field}`} ${message}`);
  // A vendor without an account in its variables may have several here.
  const poolable = known.filter(({ vendor, env }) => !vendor.account(env));
  const mayBePools = new Set(poolable.map(({ vendor }) => vendor.id));
  const entries = checkProviders(content, vendors, complain, { mayBePools });
  const providers = entries.map((entry) => {
    const read = (field: string, name: string | undefined): string | undefined => {
      const key = keyFromVariable(name, environment);
      if (!('fault' in key)) return key.apiKey;
      complain(content.indexOf(entry), field, key.fault);
      return undefined;
    };
    const apiKey = read('api_key_env', entry.api_key_env);
    const keys = entry.accounts?.map((account, index) =>
      read(`accounts.${index}.api_key_env`, account.api_key_env),
    );
    return { ...toProvider(entry, apiKey, vendors, keys), isDeclared: true };
  });
  return { providers, entries };
}

/** Receives a problem of an entry, worded to follow the field's name. */
export type Complain = (index: number, field: string, message: string) => void;

/**
 * Returns the valid entries, unchanged and in order.
 *
 * @param complain called for each invalid entry and each reused id
 * @param mayBeVendors whether entries may configure vendors, as variables do
 * @param mayBePools vendors that may appear once with several accounts
 */
export function checkProviders(
  content: readonly unknown[],
  vendors: readonly VendorSettings[],
  complain: Complain,
  { mayBeVendors = false, mayBePools = new Set<string>() } = {},
): ProviderEntry[] {
  const adapters = new Set(vendors.map(({ id }) => id));
  const reserved = vendors.filter(({ isStandIn }) => !mayBeVendors || isStandIn === true);
  const usedIds = new Set(reserved.map(({ id }) => id));
  return content.filter((plain, index): plain is ProviderEntry => {
    if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
      complain(index, '', 'must be an object');
      return false;
    }
    const entry = plainToInstance(CheckedEntry, plain);
    const violations = findViolations(entry, { refuseUnknown: true });
    violations.forEach(({ path, message }) => complain(index, path, message));
    if (violations.length > 0) return false;
    const isPool = entry.accounts !== undefined && mayBePools.delete(entry.id);
    if (usedIds.has(entry.id) && !isPool) {
      complain(index, 'id', `"${entry.id}" is built in or used twice; choose another`);
      return false;
    }
    if (entry.adapter !== undefined && !adapters.has(entry.adapter)) {
      complain(index, 'adapter', `must be one of ${[...adapters].join(', ')}`);
      return false;
    }
    if (adapters.has(entry.id) && (entry.adapter ?? entry.id) !== entry.id) {
      complain(index, 'adapter', `of "${entry.id}" must be left out: it is built in`);
      return false;
    }
    if (entry.base_url === undefined && !(entry.accounts && adapters.has(entry.id))) {
      complain(index, 'base_url', 'must be a URL that starts with http:// or https://');
      return false;
    }
    const isWell = checkAccounts(plain as ProviderEntry, vendors, (field, message) =>
      complain(index, field, message),
    );
    if (!isWell) return false;
    const faults = faultsOfSettings(plain as ProviderEntry, vendors);
    for (const [field, fault] of faults) complain(index, field, fault);
    if (faults.length > 0) return false;
    usedIds.add(entry.id);
    return true;
  });
}

/** Returns the faults in the settings of an entry and its accounts, by field. */
function faultsOfSettings(
  { accounts = [], settings, ...entry }: ProviderEntry,
  vendors: readonly VendorSettings[],
): [field: string, fault: string][] {
  const { settingRules = {}, regionSetting } = vendorOfEntry(entry, vendors) ?? {};
  const check = (prefix: string, values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).flatMap(([name, value]): [string, string][] => {
      const fault = Object.hasOwn(settingRules, name) ? settingRules[name]?.(value) : undefined;
      return fault === undefined ? [] : [[`${prefix}settings.${name}`, fault]];
    });
  const ofAccounts = accounts.flatMap(({ region, settings: own }, index) => {
    const prefix = `accounts.${index}.`;
    const isRuled = region !== undefined && regionSetting !== undefined;
    const fault = isRuled ? settingRules[regionSetting]?.(region) : undefined;
    const ofRegion: [string, string][] = fault === undefined ? [] : [[`${prefix}region`, fault]];
    return [...ofRegion, ...check(prefix, own)];
  });
  return [...check('', settings), ...ofAccounts];
}

/** Returns the key from the variable that an entry names; no key without a name. */
export function keyFromVariable(
  name: string | undefined,
  environment: NodeJS.ProcessEnv,
): { apiKey: string | undefined } | { fault: string } {
  if (name === undefined) return { apiKey: undefined };
  try {
    const apiKey = readSecret(environment, name);
    return apiKey ? { apiKey } : { fault: `names the variable ${name}, which is not set` };
  } catch (error) {
    return { fault: `names a variable that cannot be read: ${messageOf(error)}` };
  }
}

/** Returns the vendor whose adapter serves entries without `adapter`. */
function standardOf(vendors: readonly VendorSettings[]): VendorSettings {
  const standard = vendors.find(({ isDefault }) => isDefault);
  if (!standard) throw new Error('no vendor is the default one');
  return standard;
}

/**
 * Returns the provider of a validated entry.
 *
 * @param accountKeys keys of its accounts, in order; undefined: the provider's
 */
export function toProvider(
  entry: ProviderEntry,
  apiKey: string | undefined,
  vendors: readonly VendorSettings[],
  accountKeys: readonly (string | undefined)[] = [],
): ProviderConfig {
  const standard = standardOf(vendors);
  const own = vendors.find(({ id }) => id === entry.id);
  const accounts = entry.accounts?.map((account: AccountEntry, index) =>
    toAccount(account, accountKeys[index] ?? apiKey, vendorOfEntry(entry, vendors) ?? standard),
  );
  const provider: ProviderConfig = {
    id: entry.id,
    name: entry.name,
    adapter: entry.adapter ?? (own ?? standard).id,
    type: entry.type ?? (own ?? standard).type,
    baseUrl: withoutTrailingSlash(entry.base_url ?? own?.baseUrl({}) ?? ''),
    apiKey,
    settings: { ...entry.settings },
    ...(!own && { knownFieldsOnly: entry.pass_unknown_fields !== true }),
    ...(entry.own_credentials !== undefined && { takesOwnAccounts: entry.own_credentials }),
  };
  return withAccounts(provider, accounts);
}

import type { AccountEntry, PoolAccount, ProviderConfig, ProviderEntry } from './app-config.js';
import { withoutTrailingSlash } from './setting-values.js';
import type { VendorAccount, VendorSettings } from './vendor-settings.js';

export const MAX_ACCOUNTS = 100;

/** Price names, as in catalogue rows. */
export const PRICE_NAMES: readonly string[] = [
  'prompt',
  'completion',
  'request',
  'image',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_1h',
  'internal_reasoning',
  'web_search',
  'audio_character',
  'audio_byte',
  'audio_minute',
  'video_second',
];

/**
 * Validates accounts beyond their shape.
 *
 * @param complain receives the field, such as `accounts.1.id`, and the end of a sentence that begins with it
 * @returns whether they are valid
 */
export function checkAccounts(
  { accounts = [], adapter, id: provider, settings }: ProviderEntry,
  vendors: readonly VendorSettings[],
  complain: (field: string, message: string) => void,
): boolean {
  const vendor = vendorOfEntry({ adapter, id: provider }, vendors);
  const ids = accounts.map(({ id }) => id);
  let isWell = true;
  const fault = (index: number, field: string, message: string): void => {
    isWell = false;
    complain(`accounts.${index}.${field}`, message);
  };
  for (const [index, { id, region, settings: own }] of accounts.entries()) {
    if (ids.indexOf(id) !== index) fault(index, 'id', `"${id}" is used twice; choose another`);
    if (region === undefined) continue;
    const name = vendor?.regionSetting;
    if (name === undefined) {
      fault(index, 'region', 'must be left out: this adapter has no regions');
    } else if ((own ?? settings)?.[name] !== undefined) {
      fault(index, 'region', `and settings.${name} must not both be there`);
    }
  }
  return isWell;
}

/** Returns the vendor whose dialect an entry's server speaks. */
export function vendorOfEntry(
  { adapter, id }: Pick<ProviderEntry, 'adapter' | 'id'>,
  vendors: readonly VendorSettings[],
): VendorSettings | undefined {
  return vendors.find((vendor) => vendor.id === (adapter ?? id)) ?? vendors.find(isDefault);
}

function isDefault({ isDefault: declared }: VendorSettings): boolean {
  return declared === true;
}

/** @param apiKey the account's own key, or else the provider's */
export function toAccount(
  entry: AccountEntry,
  apiKey: string | undefined,
  { regionSetting }: Pick<VendorSettings, 'regionSetting'>,
): PoolAccount {
  const { id, base_url: baseUrl, region, weight = 1, models, prices } = entry;
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute } = entry;
  const named = region !== undefined && regionSetting ? { [regionSetting]: region } : {};
  return {
    id,
    apiKey,
    weight,
    settings: { ...entry.settings, ...named },
    ...(baseUrl !== undefined && { baseUrl: withoutTrailingSlash(baseUrl) }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(models && { models }),
    ...(prices && { prices }),
  };
}

/** Returns the accounts of a variable that holds a list; undefined for a single value. */
export function accountsOfVariables(
  { regionSetting, accountForm }: VendorSettings,
  { apiKey, settings }: VendorAccount,
): PoolAccount[] | undefined {
  const regions = regionSetting && listIn(settings?.[regionSetting]);
  if (regionSetting && regions) {
    return regions.map((region) => ({
      id: region,
      apiKey,
      weight: 1,
      settings: { [regionSetting]: region },
    }));
  }
  // For accounts with more settings than a key, several keys are one account.
  const isKeyOnly = accountForm && Object.keys(accountForm.settings).length === 0;
  const keys = isKeyOnly ? listIn(apiKey) : undefined;
  return keys?.map((key, index) => ({ id: String(index + 1), apiKey: key, weight: 1 }));
}

/** Adds accounts to a provider; the first one is used where a single account is needed. */
export function withAccounts(
  provider: ProviderConfig,
  accounts: readonly PoolAccount[] | undefined,
): ProviderConfig {
  if (!accounts) return provider;
  return { ...provider, apiKey: accounts[0]?.apiKey, accounts };
}

/** Returns the faults in the variables of one vendor: lists and the account's settings, a line each, without a value. */
export function problemsOfVariables(vendor: VendorSettings, env: object): string[] {
  return [...problemsOfLists(vendor, env), ...problemsOfAccount(vendor, env)];
}

function problemsOfAccount(vendor: VendorSettings, env: object): string[] {
  const { settings = {} } = vendor.account(env) ?? {};
  return Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const values = (name === vendor.regionSetting ? listIn(value) : undefined) ?? [value];
    const fault = values
      .filter((each) => each !== '')
      .map((each) => vendor.settingRules?.[name]?.(each))
      .find((each) => each !== undefined);
    const [variable = vendor.id] = Object.entries(env).find(([, one]) => one === value) ?? [];
    return fault === undefined ? [] : [`${variable} ${fault}`];
  });
}

function problemsOfLists(vendor: VendorSettings, env: object): string[] {
  const account = vendor.account(env);
  const accounts = account && accountsOfVariables(vendor, account);
  if (!accounts || !account) return [];
  const region = vendor.regionSetting && listIn(account.settings?.[vendor.regionSetting]);
  const listed = region ? account.settings?.[vendor.regionSetting] : account.apiKey;
  const entries = listIn(listed) ?? [];
  const [variable = vendor.id] = Object.entries(env).find(([, value]) => value === listed) ?? [];
  if (entries.includes('')) {
    return [`${variable} has an empty entry in its list; write them as one,two,three`];
  }
  if (new Set(entries).size < entries.length) return [`${variable} has an entry twice in its list`];
  return entries.length > MAX_ACCOUNTS ? [`${variable} must list ${MAX_ACCOUNTS} at most`] : [];
}

function listIn(value: string | undefined): string[] | undefined {
  return value?.includes(',') === true ? value.split(',').map((each) => each.trim()) : undefined;
}

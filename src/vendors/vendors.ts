import type { PoolAccount, ProviderConfig } from '../platform/config/app-config.js';
import { messageOf } from '../platform/errors/thrown.js';
import { readAllowance, type ReadAllowance } from './account-allowance.js';
import { anthropic } from './anthropic/anthropic.vendor.js';
import { azure } from './azure/azure.vendor.js';
import { bedrock } from './bedrock/bedrock.vendor.js';
import { deepgram } from './deepgram/deepgram.vendor.js';
import { elevenLabs } from './elevenlabs/elevenlabs.vendor.js';
import { fishAudio } from './fish-audio/fish-audio.vendor.js';
import { openAi } from './openai/openai.vendor.js';
import { google } from './google/google.vendor.js';
import { loadPresets } from './presets/load-presets.js';
import { sandbox } from './sandbox/sandbox.vendor.js';
import { KEY_ONLY, type AdapterTools, type Vendor, type ByokAccountForm } from './vendor.js';
import { vertex } from './vertex/vertex.vendor.js';

export { presetCatalogues } from './presets/load-presets.js';

/**
 * All vendors, in the order in which their providers are listed. To add one, add a line here or a
 * folder to `presets`.
 */
export const VENDORS: Vendor[] = [
  openAi,
  anthropic,
  azure,
  bedrock,
  vertex,
  google,
  fishAudio,
  elevenLabs,
  deepgram,
  ...loadPresets(),
  sandbox,
];

/** Returns the vendor whose adapter has this name. */
export function vendorOf(adapter: string): Vendor | undefined {
  return VENDORS.find(({ id }) => id === adapter);
}

/**
 * Returns why a provider, or one of its accounts, cannot be called as configured. Builds its adapters: their
 * constructors read every setting, and use their tools in calls only.
 */
export function faultOfProvider(provider: ProviderConfig): string | undefined {
  const vendor = vendorOf(provider.adapter);
  if (!vendor) return `there is no adapter named ${provider.adapter}`;
  const accounts = provider.accounts?.map((account) => withAccount(provider, account));
  try {
    for (const one of accounts ?? [provider]) vendor.createAdapter(one, {} as AdapterTools);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Returns why a provider without a key may not be called. The machine's own credentials are only sent to
 * the vendor's hosts, or to an address set by this machine's variables or files.
 */
export function ambientFaultOf({ accounts, ...provider }: ProviderConfig): string | undefined {
  const { ambientHosts: hosts } = vendorOf(provider.adapter) ?? {};
  if (!hosts || provider.isDeclared === true) return undefined;
  const places = accounts?.map((account) => withAccount(provider, account)) ?? [provider];
  const isElsewhere = places.some(({ apiKey, baseUrl }) => {
    if (apiKey !== undefined || baseUrl === '') return false;
    const { protocol, hostname } = new URL(baseUrl);
    return protocol !== 'https:' || !hosts.test(hostname);
  });
  return isElsewhere
    ? "an address that is not the vendor's needs an api_key: the credentials of this machine are not sent there"
    : undefined;
}

/** Returns the provider configured for one of its accounts. */
export function withAccount(
  { accounts: _, ...provider }: ProviderConfig,
  { apiKey, baseUrl = provider.baseUrl, settings }: PoolAccount,
): ProviderConfig {
  return { ...provider, apiKey, baseUrl, settings: { ...provider.settings, ...settings } };
}

/** Returns the form for accounts with a provider, by its adapter; most have just a key. */
export function ownAccountFormOf({ adapter }: Pick<ProviderConfig, 'adapter'>): ByokAccountForm {
  return vendorOf(adapter)?.accountForm ?? KEY_ONLY;
}

/** Returns the adapter's reader of remaining rate limits. */
export function allowanceReaderOf({ adapter }: Pick<ProviderConfig, 'adapter'>): ReadAllowance {
  return vendorOf(adapter)?.readAllowance ?? readAllowance;
}

/** Returns the `gen_ai.provider.name` of a provider. */
export function telemetryProvider(providerId: string): string {
  return vendorOf(providerId)?.telemetryName ?? providerId;
}

/** Returns a provider's names in public price lists; the first one that lists a model counts. */
export function listedAs(providerId: string): readonly string[] {
  return vendorOf(providerId)?.listedAs ?? [providerId];
}

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
 * Every vendor, in the order in which their providers are listed. A new one is a line here, or a
 * folder of `presets`.
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

/** The vendor whose adapter has this name. */
export function vendorOf(adapter: string): Vendor | undefined {
  return VENDORS.find(({ id }) => id === adapter);
}

/**
 * Returns why a provider, or one of its accounts, cannot be called as configured. Builds its adapters: their
 * constructors read every setting, and use their tools in calls only.
 */
export function faultOfProvider(provider: ProviderConfig): string | undefined {
  const vendor = vendorOf(provider.adapter);
  if (!vendor) return `there is no adapter ${provider.adapter}`;
  const accounts = provider.accounts?.map((account) => withAccount(provider, account));
  try {
    for (const one of accounts ?? [provider]) vendor.createAdapter(one, {} as AdapterTools);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Returns why a provider without a key may not be called: the machine's own credentials go to the vendor's
 * hosts, or where a variable or file of this machine leads.
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

/** The provider as its adapter has to know it to call it over one of its accounts. */
export function withAccount(
  { accounts: _, ...provider }: ProviderConfig,
  { apiKey, baseUrl = provider.baseUrl, settings }: PoolAccount,
): ProviderConfig {
  return { ...provider, apiKey, baseUrl, settings: { ...provider.settings, ...settings } };
}

/** The form of accounts with a provider, by its adapter; most have a key and nothing else. */
export function ownAccountFormOf({ adapter }: Pick<ProviderConfig, 'adapter'>): ByokAccountForm {
  return vendorOf(adapter)?.accountForm ?? KEY_ONLY;
}

/** How the vendor behind an adapter says what is left of an account's limits. */
export function allowanceReaderOf({ adapter }: Pick<ProviderConfig, 'adapter'>): ReadAllowance {
  return vendorOf(adapter)?.readAllowance ?? readAllowance;
}

/** The `gen_ai.provider.name` of a provider. */
export function telemetryProvider(providerId: string): string {
  return vendorOf(providerId)?.telemetryName ?? providerId;
}

/** What public price lists call a provider; the first name under which one has a model counts. */
export function listedAs(providerId: string): readonly string[] {
  return vendorOf(providerId)?.listedAs ?? [providerId];
}

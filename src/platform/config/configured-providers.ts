import { plainToInstance } from 'class-transformer';
import type { ProviderConfig } from './app-config.js';
import { withoutTrailingSlash } from './is-url.js';
import type { VendorSettings } from './vendor-settings.js';

/** A vendor with its own variables of the environment. */
export interface VendorEnv {
  readonly vendor: VendorSettings;
  readonly env: object;
}

/** What each vendor reads of an environment; nothing is checked yet. */
export function readVendors(
  vendors: readonly VendorSettings[],
  environment: Readonly<Record<string, string | undefined>>,
): VendorEnv[] {
  return vendors.map((vendor) => ({
    vendor,
    env: vendor.Variables ? plainToInstance(vendor.Variables, environment) : {},
  }));
}

/**
 * The providers in the order in which they are listed: vendors whose credential is there, the
 * operator's own, and the stand-in when it is asked for or when there is nothing else to call.
 */
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
 * Providers that tenants may use with accounts of their own: every vendor, at the operator's address
 * for it if there is one, and those of the operator's own that ask for a key. Without keys and
 * without the settings that belong to an account.
 */
export function ownAccountProviders(
  vendors: readonly VendorEnv[],
  furtherProviders: readonly ProviderConfig[],
): ProviderConfig[] {
  return [
    ...vendors.filter(({ vendor }) => vendor.accountForm !== undefined).map(vendorsProvider),
    ...furtherProviders
      .filter(({ takesOwnAccounts, apiKey }) => takesOwnAccounts ?? apiKey !== undefined)
      .map((provider) => ({ ...provider, apiKey: undefined })),
  ];
}

/** The vendor without any account. */
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

/** The vendor with the operator's account, if there is one. */
function operatorsProvider(given: VendorEnv): ProviderConfig[] {
  const account = given.vendor.account(given.env);
  if (!account) return [];
  const provider = vendorsProvider(given);
  const { apiKey, settings = {}, baseUrl = provider.baseUrl } = account;
  return [{ ...provider, apiKey, settings, baseUrl: withoutTrailingSlash(baseUrl) }];
}

import type { WorkKind } from '../canonical/work-request.js';
import type { ProviderConfig } from '../platform/config/app-config.js';
import type { SettingRule, VendorSettings } from '../platform/config/vendor-settings.js';
import type { ReadAllowance } from './account-allowance.js';
import type { HttpTransport } from './transport/http-transport.js';
import type { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';

export const MAX_KEY_LENGTH = 8_192;

const KEY = /^[\x21-\x7e]{8,8192}$/;

/** Shorter keys show less, so that most of the key stays hidden. */
const SHOWS_BOTH_ENDS = 20;

/** The form of accounts with just a key, as with most vendors. */
export const KEY_ONLY: ByokAccountForm = {
  settings: {},
  keyDescription: 'The API key.',
  readKey: readPlainKey,
  hasOwnAddress: () => false,
  configure: (provider, { key }) => ({ ...provider, apiKey: key }),
};

/** Dependencies of adapters besides the provider's settings. */
export interface AdapterTools {
  readonly transport: HttpTransport;
  /** Fetches callers' images and documents, for vendors that take no URLs. */
  readonly mediaFetcher: MediaFetcher;
}

/** Capabilities of a vendor, as model kinds of the catalogue. */
export const VENDOR_KINDS = [
  'chat',
  'embedding',
  'speech',
  'transcription',
  'image',
  'video',
] as const satisfies readonly ('chat' | WorkKind)[];
export type VendorKind = (typeof VENDOR_KINDS)[number];

/**
 * Everything about a vendor except its models and their prices. Each vendor is a folder that exports
 * one of these, plus a line in `vendors.ts`.
 */
export interface Vendor<Env extends object = object> extends VendorSettings<Env> {
  readonly kinds: readonly [VendorKind, ...VendorKind[]];
  /** The form for BYOK accounts; undefined: not available. */
  readonly accountForm?: ByokAccountForm;
  /** Reads remaining rate limits from responses with uncommon headers. */
  readonly readAllowance?: ReadAllowance;
  /** The name in OpenTelemetry's semantic conventions, if different from the id. */
  readonly telemetryName?: string;
  /** Names in public price lists, if not just the id; the first one that lists a model counts. */
  readonly listedAs?: readonly string[];
  /** Hosts that may get the machine's own credentials, if the adapter uses them without a key. */
  readonly ambientHosts?: RegExp;
  createAdapter(provider: ProviderConfig, tools: AdapterTools): Upstream;
}

/** Rules for an account's settings besides their format. */
export interface AccountRules {
  /** Lifts the rule that addresses must be public and use https. */
  allowPrivate: boolean;
}

/** One setting of an account besides its key. */
interface AccountSetting {
  isRequired: boolean;
  /** For the OpenAPI description. */
  description: string;
  /** Returns the fault of a value, as the end of a sentence that starts with the setting's name. */
  faultOf(value: string, rules: AccountRules): string | undefined;
}

/** A tenant's own account with a provider (BYOK). */
interface ByokAccount {
  key: string;
  /** Keyed by the names in the form. */
  settings: Readonly<Record<string, string>>;
}

/** A storable key. */
export interface AccountKey {
  key: string;
  /** The part that may be shown. */
  preview: string;
}

/** The form for a tenant's BYOK account, for one adapter. */
export interface ByokAccountForm {
  settings: Readonly<Record<string, AccountSetting>>;
  /** The vendor's name for the key. */
  keyDescription: string;
  /** Returns the key to store, or its fault as the end of a sentence. */
  readKey(given: string): AccountKey | { fault: string };
  /** True when the address is derived from the settings, so each account has its own. */
  hasOwnAddress(provider: ProviderConfig): boolean;
  /** @param provider the operator's configuration of the provider, without a key */
  configure(provider: ProviderConfig, account: ByokAccount): ProviderConfig;
}

function previewOf(key: string): string {
  return key.length < SHOWS_BOTH_ENDS
    ? `...${key.slice(-2)}`
    : `${key.slice(0, 4)}...${key.slice(-4)}`;
}

/** Reads a key that only needs to be valid in a header. */
export function readPlainKey(key: string): AccountKey | { fault: string } {
  return KEY.test(key)
    ? { key, preview: previewOf(key) }
    : {
        fault: `must have 8 to ${MAX_KEY_LENGTH} visible ASCII characters, without spaces or line breaks`,
      };
}

/** Creates a setting validated by a pattern. */
export function patternSetting(
  isRequired: boolean,
  pattern: RegExp,
  description: string,
  fault: string,
): AccountSetting & { faultOf: SettingRule } {
  return {
    isRequired,
    description,
    faultOf: (value) => (pattern.test(value) ? undefined : fault),
  };
}

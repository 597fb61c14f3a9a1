import type { WorkKind } from '../canonical/work-request.js';
import type { ProviderConfig } from '../platform/config/app-config.js';
import type { SettingRule, VendorSettings } from '../platform/config/vendor-settings.js';
import type { ReadAllowance } from './account-allowance.js';
import type { HttpTransport } from './transport/http-transport.js';
import type { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';

export const MAX_KEY_LENGTH = 8_192;

const KEY = /^[\x21-\x7e]{8,8192}$/;

/** Of a shorter key most must stay hidden, so less of it is shown. */
const SHOWS_BOTH_ENDS = 20;

/** Of the accounts that have a key and nothing else, which most have. */
export const KEY_ONLY: ByokAccountForm = {
  settings: {},
  keyDescription: 'The API key.',
  readKey: readPlainKey,
  hasOwnAddress: () => false,
  configure: (provider, { key }) => ({ ...provider, apiKey: key }),
};

/** What adapters are built with, beside the provider's settings. */
export interface AdapterTools {
  readonly transport: HttpTransport;
  /** Fetches callers' images and documents, for vendors that take no URLs. */
  readonly mediaFetcher: MediaFetcher;
}

/** What a vendor can do: the kinds that models of the catalogue have. */
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
 * All that there is to know of a vendor, beside its models and their prices. Each is a folder that
 * exports one of these, and a line in `vendors.ts`.
 */
export interface Vendor<Env extends object = object> extends VendorSettings<Env> {
  readonly kinds: readonly [VendorKind, ...VendorKind[]];
  /** What tenants tell of accounts of their own; absent: they can have none. */
  readonly accountForm?: ByokAccountForm;
  /** What its responses say is left of an account's limits, where they say it otherwise than most. */
  readonly readAllowance?: ReadAllowance;
  /** What the semantic conventions of OpenTelemetry call it, where that is not its id. */
  readonly telemetryName?: string;
  /** What public price lists call it, where that is not its id alone; the first that has a model counts. */
  readonly listedAs?: readonly string[];
  /** Hosts that the machine's own credentials may be sent to, where the adapter uses them without a key. */
  readonly ambientHosts?: RegExp;
  createAdapter(provider: ProviderConfig, tools: AdapterTools): Upstream;
}

/** What an account's settings are checked against besides their form. */
export interface AccountRules {
  /** Lifts the rule that addresses must be public ones, spoken to by https. */
  allowPrivate: boolean;
}

/** One thing that the vendor has to know of an account, beside its key. */
interface AccountSetting {
  isRequired: boolean;
  /** For the interface's description. */
  description: string;
  /** What is wrong with a value, as the end of a sentence that begins with its name. */
  faultOf(value: string, rules: AccountRules): string | undefined;
}

/** A tenant's own account with a provider (BYOK). */
interface ByokAccount {
  key: string;
  /** By the names of the form. */
  settings: Readonly<Record<string, string>>;
}

/** A key that can be stored. */
export interface AccountKey {
  key: string;
  /** What may be shown of it. */
  preview: string;
}

/** What a tenant has to tell of an account of its own, for one adapter. */
export interface ByokAccountForm {
  settings: Readonly<Record<string, AccountSetting>>;
  /** What the key is called at the vendor. */
  keyDescription: string;
  /** What is stored of the key, or what is wrong with it, as the end of a sentence. */
  readKey(given: string): AccountKey | { fault: string };
  /** Whether the address follows from what the tenant says, so that each account has its own. */
  hasOwnAddress(provider: ProviderConfig): boolean;
  /** @param provider the operator's description of the provider, without a key */
  configure(provider: ProviderConfig, account: ByokAccount): ProviderConfig;
}

function previewOf(key: string): string {
  return key.length < SHOWS_BOTH_ENDS
    ? `...${key.slice(-2)}`
    : `${key.slice(0, 4)}...${key.slice(-4)}`;
}

/** A key of which nothing is known but that it goes into a header. */
export function readPlainKey(key: string): AccountKey | { fault: string } {
  return KEY.test(key)
    ? { key, preview: previewOf(key) }
    : {
        fault: `must have 8 to ${MAX_KEY_LENGTH} visible ASCII characters, without spaces or line breaks`,
      };
}

/** A setting whose values have a pattern. */
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

import type { ProviderType } from './app-config.js';

/** The operator's account with a vendor, as variables give it. */
export interface VendorAccount {
  readonly apiKey: string | undefined;
  /** Where each account has an address of its own; else the vendor's holds. */
  readonly baseUrl?: string;
  /** What only the vendor's adapter needs to know, by names of its own. */
  readonly settings?: Readonly<Record<string, string | undefined>>;
}

/** Returns what is wrong with a value, as the end of a sentence that begins with the setting's name. */
export type SettingRule = (value: string) => string | undefined;

/**
 * What the loader of the settings has to know of a vendor: which variables it reads, and what they
 * make of it. `Env` is a class with one property a variable, as `EnvDto` is.
 */
export interface VendorSettings<Env extends object = object> {
  /** Of its provider and its adapter, e.g. `acme`. */
  readonly id: string;
  /** For people, e.g. `Acme AI`. */
  readonly name: string;
  /** The interface's vendor kind. */
  readonly type: ProviderType;
  /** Absent for a vendor that reads none. */
  readonly Variables?: new () => Env;
  /** Which variables are missing when some of them are there: lines that name one each. */
  incomplete?(env: Env): readonly string[];
  /** Its address for accounts that have none of their own; empty: the adapter knows it. */
  baseUrl(env: Env): string;
  /** Undefined without the operator's account: the vendor is not configured. */
  account(env: Env): VendorAccount | undefined;
  /** Rules for an operator's `settings`, by name; settings without one take any text. */
  readonly settingRules?: Readonly<Record<string, SettingRule>>;
  /** Settings that play no part in where calls go. A stored key must be sent again when any other changes. */
  readonly placelessSettings?: readonly string[];
  /** Present where tenants may use accounts of their own; what it says is the vendors' business. */
  readonly accountForm?: { readonly settings: object };
  /** The one of an account's settings that names a region, where it has them; a variable may list several. */
  readonly regionSetting?: string;
  /** Serves when `GATEWAY_SANDBOX` says so, or when nothing else is configured. */
  readonly isStandIn?: boolean;
  /** Servers of the providers file that name no adapter are spoken to by this one's. */
  readonly isDefault?: boolean;
}

import type { ProviderType } from './app-config.js';

/** The operator's account with a vendor, from variables. */
export interface VendorAccount {
  readonly apiKey: string | undefined;
  /** For vendors whose accounts have their own address. */
  readonly baseUrl?: string;
  /** Adapter-specific settings. */
  readonly settings?: Readonly<Record<string, string | undefined>>;
}

/** Returns what is wrong with a value, as the end of a sentence that begins with the setting's name. */
export type SettingRule = (value: string) => string | undefined;

/** What the settings loader needs to know about a vendor. `Env` is a class with a property per variable, like `EnvDto`. */
export interface VendorSettings<Env extends object = object> {
  /** The id of its provider and adapter, such as `acme`. */
  readonly id: string;
  /** The display name, such as `Acme AI`. */
  readonly name: string;
  /** The interface's vendor kind. */
  readonly type: ProviderType;
  /** Undefined for a vendor without variables. */
  readonly Variables?: new () => Env;
  /** Returns which variables are missing when others are set, a line each. */
  incomplete?(env: Env): readonly string[];
  /** Its default address; empty when the adapter knows it. */
  baseUrl(env: Env): string;
  /** Undefined without an operator's account: the vendor is not configured. */
  account(env: Env): VendorAccount | undefined;
  /** Rules for an operator's `settings`, by name; settings without one take any text. */
  readonly settingRules?: Readonly<Record<string, SettingRule>>;
  /** Settings that play no part in where calls go. A stored key must be sent again when any other changes. */
  readonly placelessSettings?: readonly string[];
  /** Present when tenants may use BYOK accounts. */
  readonly accountForm?: { readonly settings: object };
  /** The account setting that names a region, if any; a variable may list several. */
  readonly regionSetting?: string;
  /** The stand-in, enabled by `GATEWAY_SANDBOX` or when nothing else is configured. */
  readonly isStandIn?: boolean;
  /** Its adapter serves entries of the providers file without `adapter`. */
  readonly isDefault?: boolean;
}

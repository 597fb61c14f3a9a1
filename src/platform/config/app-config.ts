import type { PeopleConfig } from './people-env.js';
import type { Network } from './setting-values.js';

/** Every setting of the service, read once at the start from the variables in `env.dto.ts`. Times are milliseconds unless named otherwise. */
export interface AppConfig {
  readonly http: {
    readonly port: number;
    /** An address of this machine, or a name that resolves to one. */
    readonly host: string;
    /** Base of the URLs that the service generates, without a trailing slash. */
    readonly publicUrl: string | undefined;
    /** Origins that may call the service from a browser; `*` alone: all; empty: none. */
    readonly corsOrigins: readonly string[];
    /** True when the console is served at `/console`. */
    readonly hasConsole: boolean;
  };
  readonly dataDirectory: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** Where artifacts are stored; undefined: in the data folder. */
  readonly s3: S3Config | undefined;
  /** Undefined when the secret is in a file. */
  readonly secret: string | undefined;
  /** Undefined with the embedded database, which generates one in the data folder. */
  readonly secretFile: string | undefined;
  /** Previous secrets, used to decrypt and verify only. */
  readonly previousSecrets: readonly string[];
  readonly bootstrap: BootstrapConfig;
  readonly customerWrites: 'any' | 'management';
  readonly people: PeopleConfig;
  readonly providers: readonly ProviderConfig[];
  /** Providers that accept BYOK accounts, configured or not; without keys. */
  readonly ownAccountProviders: readonly ProviderConfig[];
  /** True when provider keys are checked at the start and BYOK keys when they are stored. */
  readonly checksKeys: boolean;
  /** The fee for a BYOK request, in percent of the regular price. */
  readonly byokFeePercent: number;
  /** The maximum share of hedging requests that are hedged, in percent. */
  readonly hedgePercent: number;
  readonly catalogueFile: string | undefined;
  /** Ids of rows that price their provider's unlisted chat models. */
  readonly unlistedModels: readonly string[];
  /** URL of a public price list to compare prices with; undefined: none. */
  readonly priceList: string | undefined;
  readonly limits: {
    readonly connectTimeoutMs: number;
    /** Undefined: 60 s for streams, 300 s for whole answers. */
    readonly firstByteTimeoutMs: number | undefined;
    readonly idleTimeoutMs: number;
    readonly requestTimeoutMs: number;
    readonly cooldownMs: number;
  };
  /** Limits that protect this process from floods. */
  readonly admission: {
    /** Open model calls of one key in this process. */
    readonly maxInFlightPerKey: number;
    readonly maxInFlightPerTenant: number;
    /** Memory for all bodies in flight; one tenant may use half. */
    readonly bodyBudgetBytes: number;
    /** Disk space for all uploads; one tenant may use half. */
    readonly uploadBudgetBytes: number;
    /** Management requests of one key per minute. */
    readonly managementPerMinute: number;
    /** Proxies whose `X-Forwarded-For` is trusted. */
    readonly trustedProxies: readonly Network[];
  };
  /** How long a health check is cached. */
  readonly healthCacheMs: number;
  /** Memory for cached answers, per process or in Redis. */
  readonly cache: {
    readonly maxBytes: number;
    readonly maxBytesPerTenant: number;
  };
  readonly jobs: {
    /** Poll interval when the vendor suggests none. */
    readonly pollMs: number;
    /** The time limit of a job. */
    readonly deadlineSeconds: number;
    /** How long results can be fetched. */
    readonly artifactTtlSeconds: number;
    /** Concurrent submissions per provider in this process, and as many polls. */
    readonly concurrency: number;
    /** Jobs of one tenant that are queued or in progress. */
    readonly maxOpenPerTenant: number;
  };
  /** Allows caller-supplied URLs with private addresses. */
  readonly allowPrivateDestinations: boolean;
  /** Where the service's own traces and metrics go; undefined: nowhere. */
  readonly telemetry: TelemetryConfig | undefined;
  readonly settle: 'before-end' | 'after-response';
  /** Logging to standard output. */
  readonly log: {
    /** The minimum level. */
    readonly level: LogLevel;
    /** True when each finished request is logged. */
    readonly requests: boolean;
  };
  /** Bearer token for `/metrics`; undefined: open. */
  readonly metricsToken: string | undefined;
  readonly queue: {
    /** True when this process handles background work. */
    readonly consume: boolean;
  };
  /** HTTP processes on this machine. */
  readonly workers: number;
  /** How long a stopping service keeps serving before it drains. */
  readonly lameDuckSeconds: number;
  readonly drainSeconds: number;
  /** Limit of undelivered traces of all tenants. */
  readonly pendingTracesMaxBytes: number;
  /** Limit of stored responses and conversations of all tenants. */
  readonly storedContentMaxBytes: number;
  /** True when prompts and answers are stored: never, for tenants or keys that opt in, or unless they opt out. */
  readonly contentLog: 'off' | 'allowed' | 'on';
  /** Days (UTC) that they are kept besides today; 0: for ever. */
  readonly contentRetentionDays: number;
  /** Their limit in the database, for all tenants. */
  readonly contentMaxBytes: number;
  /** Days that stored responses are kept after the last turn; 0: for ever. */
  readonly responseRetentionDays: number;
  /** Days that the request log is kept; 0: for ever. */
  readonly logRetentionDays: number;
  /** Days after which a month of the request log moves to the bucket; 0: never. */
  readonly logArchiveAfterDays: number;
  /** Days after which a month of the ledger is replaced by sums; 0: never. */
  readonly ledgerRetentionDays: number;
  /** Days that the audit log is kept; 0: for ever. */
  readonly auditRetentionDays: number;
  readonly declared: DeclaredConfig;
}

/** Declarations in variables and files that configuration versions can contain too. */
export interface DeclaredConfig {
  /** By variable name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Entries of the providers file. */
  readonly providers: readonly ProviderEntry[];
  /** All variables; provider entries name those of their keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An entry of the providers file or of a configuration version. */
export interface ProviderEntry {
  readonly id: string;
  readonly name: string;
  /** Undefined for a vendor's own address. */
  readonly base_url?: string;
  readonly api_key_env?: string;
  readonly adapter?: string;
  readonly type?: ProviderType;
  readonly settings?: Readonly<Record<string, string>>;
  readonly own_credentials?: boolean;
  readonly pass_unknown_fields?: boolean;
  readonly accounts?: readonly AccountEntry[];
}

/** One of a provider's accounts, as an entry has it. */
export interface AccountEntry {
  readonly id: string;
  /** Undefined: the provider's key. */
  readonly api_key_env?: string;
  readonly base_url?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The setting that names the region or location, if the adapter has one. */
  readonly region?: string;
  readonly weight?: number;
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly models?: readonly string[];
  readonly prices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A bucket on S3 or a compatible server. */
export interface S3Config {
  readonly bucket: string;
  /** Undefined: AWS's endpoint of the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined, like the secret key, to use the machine's credentials. */
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  /** True when callers are redirected to the bucket; otherwise the service proxies the bytes. */
  readonly redirect: boolean;
}

/** Which traces are exported, by `OTEL_TRACES_SAMPLER` and its argument. */
export interface TracesSampler {
  /** True when the caller's sampling decision applies if there is one. */
  readonly followsParent: boolean;
  /** The sampled share of all other traces, 0 to 1. */
  readonly ratio: number;
}

/** The operator's OpenTelemetry collector, by the `OTEL_*` variables. */
export interface TelemetryConfig {
  /** Full URLs; undefined when a signal is not exported. */
  readonly tracesUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly tracesHeaders: Readonly<Record<string, string>>;
  readonly metricsHeaders: Readonly<Record<string, string>>;
  readonly metricsIntervalMs: number;
  readonly sampler: TracesSampler;
  /** Resource attributes, including the service name when set. */
  readonly resource: Readonly<Record<string, string>>;
}

export interface BootstrapConfig {
  readonly apiKey: string | undefined;
  readonly managementKey: string | undefined;
  /** The operator's key; undefined: generated at the first start. */
  readonly adminKey: string | undefined;
  /** Credits granted to the default tenant on creation. */
  readonly credits: number;
  readonly rateLimitPerMinute: number;
  /** Path of a JSON file that declares tenants and their keys. */
  readonly file: string | undefined;
}

/** A configured upstream account, which can serve routes. */
export interface ProviderConfig {
  /** The first part of aliases, such as `openai`. */
  readonly id: string;
  readonly name: string;
  /** The adapter that calls it. */
  readonly adapter: string;
  /** The interface's vendor kind. */
  readonly type: ProviderType;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Adapter-specific settings. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** Its address comes from a variable or a file of this machine, so it may be sent ambient credentials. */
  readonly isDeclared?: boolean;
  /** True when undocumented fields are withheld from it; false by default. */
  readonly knownFieldsOnly?: boolean;
  /** True when tenants may use BYOK accounts; undefined: if it has a key. */
  readonly takesOwnAccounts?: boolean;
  /** A pool that shares its requests, in declaration order; undefined: a single account. */
  readonly accounts?: readonly PoolAccount[];
}

/** One of several accounts or regions of a provider. */
export interface PoolAccount {
  /** Unique in its pool: of a-z, A-Z, 0-9, `.`, `_` and `-`. */
  readonly id: string;
  readonly apiKey: string | undefined;
  /** Undefined: the provider's. */
  readonly baseUrl?: string;
  /** Overrides the provider's. */
  readonly settings?: ProviderConfig['settings'];
  /** Its weight among the accounts; at least 1. */
  readonly weight: number;
  /** The vendor's limit per minute; undefined: none. */
  readonly requestsPerMinute?: number;
  /** Input and output together. */
  readonly tokensPerMinute?: number;
  /** Catalogue rows that it serves, by id or with a trailing `*`; undefined: all of the provider's. */
  readonly models?: readonly string[];
  /** Prices that override a catalogue row's, by row id and `pricing` name. */
  readonly prices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const PROVIDER_TYPES = ['openai', 'anthropic', 'azure', 'aws', 'gcp'] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/** Injection token of the AppConfig. */
export const APP_CONFIG = Symbol('APP_CONFIG');

import type { PeopleConfig } from './people-env.js';
import type { Network } from './setting-values.js';

/**
 * Every setting of the service, read once at start. See `env.dto.ts` for the variables behind it.
 * Times are milliseconds unless the name says otherwise.
 */
export interface AppConfig {
  readonly http: {
    readonly port: number;
    /** An address of this machine, or a name that has one. */
    readonly host: string;
    /** Base of the URLs that the service gives out, without a trailing slash. */
    readonly publicUrl: string | undefined;
    /** Web pages that may call the service from a browser; `*` alone: all; empty: none. */
    readonly corsOrigins: readonly string[];
    /** Whether there are pages at `/console`. */
    readonly hasConsole: boolean;
  };
  readonly dataDirectory: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** Where artifacts lie; undefined: in the data folder. */
  readonly s3: S3Config | undefined;
  /** Undefined: it stands in a file. */
  readonly secret: string | undefined;
  /** Undefined with the embedded database: one is made and kept in the data folder. */
  readonly secretFile: string | undefined;
  /** Secrets of before, with which is read and verified, but nothing written. */
  readonly previousSecrets: readonly string[];
  readonly bootstrap: BootstrapConfig;
  readonly customerWrites: 'any' | 'management';
  readonly people: PeopleConfig;
  readonly providers: readonly ProviderConfig[];
  /** Providers with which tenants may use accounts of their own, configured or not; without keys. */
  readonly ownAccountProviders: readonly ProviderConfig[];
  /** Whether keys are tried when the service starts, and those of tenants when they are stored. */
  readonly checksKeys: boolean;
  /** What a request over a tenant's own account costs, in percent of what it costs otherwise. */
  readonly byokFeePercent: number;
  /** Of the requests that ask for a second route when the first is silent, how many may get it, in percent. */
  readonly hedgePercent: number;
  readonly catalogueFile: string | undefined;
  /** Ids of rows by which chat models of their providers are priced that no row has. */
  readonly unlistedModels: readonly string[];
  /** Address of a public price list that prices are held against; undefined: none. */
  readonly priceList: string | undefined;
  readonly limits: {
    readonly connectTimeoutMs: number;
    /** Undefined: 60 s for a streamed answer, 300 s for a whole one. */
    readonly firstByteTimeoutMs: number | undefined;
    readonly idleTimeoutMs: number;
    readonly requestTimeoutMs: number;
    readonly cooldownMs: number;
  };
  /** What protects this process from callers who mean harm, or ask for too much at once. */
  readonly admission: {
    /** Calls of models that one key may have open at once in this process. */
    readonly maxInFlightPerKey: number;
    readonly maxInFlightPerTenant: number;
    /** Memory for all bodies together that are being received or kept; one tenant may have half. */
    readonly bodyBudgetBytes: number;
    /** Room on the disk for all uploads together; one tenant may have half. */
    readonly uploadBudgetBytes: number;
    /** Requests of one key in a minute that are no inference. */
    readonly managementPerMinute: number;
    /** Whose `X-Forwarded-For` is believed. */
    readonly trustedProxies: readonly Network[];
  };
  /** How long what was found out about a provider's health is shown before it is asked again. */
  readonly healthCacheMs: number;
  /** Memory for cached answers: of each process, or of Redis where there is one. */
  readonly cache: {
    readonly maxBytes: number;
    readonly maxBytesPerTenant: number;
  };
  readonly jobs: {
    /** Between two questions about work at a vendor that does not say when to ask. */
    readonly pollMs: number;
    /** How long a job may take from its submission to its end. */
    readonly deadlineSeconds: number;
    /** How long what a job made can be fetched. */
    readonly artifactTtlSeconds: number;
    /** Jobs of one provider that this process submits at once, and as many that it asks about. */
    readonly concurrency: number;
    /** Jobs of one tenant that are queued or in progress. */
    readonly maxOpenPerTenant: number;
  };
  /** Lifts the rule that URLs which callers give us must lead to public addresses. */
  readonly allowPrivateDestinations: boolean;
  /** Where the service's own traces and metrics go; undefined: nowhere. */
  readonly telemetry: TelemetryConfig | undefined;
  readonly settle: 'before-end' | 'after-response';
  /** What is written to standard output. */
  readonly log: {
    /** Lines of lesser importance are left out. */
    readonly level: LogLevel;
    /** Whether each finished request is a line. */
    readonly requests: boolean;
  };
  /** Bearer token that `/metrics` asks for; undefined: open. */
  readonly metricsToken: string | undefined;
  readonly queue: {
    /** Whether this process works on what the queue wakes it for. */
    readonly consume: boolean;
  };
  /** HTTP processes on this machine. */
  readonly workers: number;
  /** How long a service that is told to stop serves on, before it drains. */
  readonly lameDuckSeconds: number;
  readonly drainSeconds: number;
  /** Traces of all tenants that wait for their receivers. */
  readonly pendingTracesMaxBytes: number;
  /** Stored responses and conversations of all tenants. */
  readonly storedContentMaxBytes: number;
  /** Whether prompts and answers may be kept: never, where a tenant or key says so, or unless they refuse. */
  readonly contentLog: 'off' | 'allowed' | 'on';
  /** Days (UTC) for which they are kept beside today; 0: for ever. */
  readonly contentRetentionDays: number;
  /** What those of all tenants may take in the database. */
  readonly contentMaxBytes: number;
  /** Days for which stored responses are kept after their conversation's last turn; 0: for ever. */
  readonly responseRetentionDays: number;
  /** Days for which rows of the request log are kept; 0: for ever. */
  readonly logRetentionDays: number;
  /** Days after which a month of the request log goes to the bucket; 0: never. */
  readonly logArchiveAfterDays: number;
  /** Days after which a month of the ledger becomes its sums; 0: never. */
  readonly ledgerRetentionDays: number;
  /** Days for which rows of the audit log are kept; 0: for ever. */
  readonly auditRetentionDays: number;
  readonly declared: DeclaredConfig;
}

/** What variables and files say of that which versions of the configuration hold as well. */
export interface DeclaredConfig {
  /** By the names of the variables that are set. */
  readonly settings: Readonly<Record<string, string>>;
  /** Entries of the providers file. */
  readonly providers: readonly ProviderEntry[];
  /** All variables that are set: entries of providers name those of their keys. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** An entry of the providers file, or of a version of the configuration. */
export interface ProviderEntry {
  readonly id: string;
  readonly name: string;
  /** Undefined: a vendor's own accounts, at its usual address. */
  readonly base_url?: string;
  readonly api_key_env?: string;
  readonly adapter?: string;
  readonly type?: ProviderType;
  readonly settings?: Readonly<Record<string, string>>;
  readonly own_credentials?: boolean;
  readonly pass_unknown_fields?: boolean;
  readonly accounts?: readonly AccountEntry[];
}

/** One of several accounts of a provider, as an entry has it. */
export interface AccountEntry {
  readonly id: string;
  /** Without it, the provider's key. */
  readonly api_key_env?: string;
  readonly base_url?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The one of `settings` that names the region or location, where the adapter has one. */
  readonly region?: string;
  readonly weight?: number;
  readonly requests_per_minute?: number;
  readonly tokens_per_minute?: number;
  readonly models?: readonly string[];
  readonly prices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A bucket of S3, or of a server that speaks its language. */
export interface S3Config {
  readonly bucket: string;
  /** Undefined: the cloud's own, for the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined together with the secret key: what the machine gives. */
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  /** Whether callers are sent to the bucket; otherwise the service passes the bytes on. */
  readonly redirect: boolean;
}

/** Which traces are exported, by `OTEL_TRACES_SAMPLER` and its argument. */
export interface TracesSampler {
  /** Whether the caller's own choice holds where there is one. */
  readonly followsParent: boolean;
  /** 0 to 1: the share of all others. */
  readonly ratio: number;
}

/** The operator's OpenTelemetry collector, as the `OTEL_*` variables name it. */
export interface TelemetryConfig {
  /** Full URLs; undefined: that signal is not exported. */
  readonly tracesUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly tracesHeaders: Readonly<Record<string, string>>;
  readonly metricsHeaders: Readonly<Record<string, string>>;
  readonly metricsIntervalMs: number;
  readonly sampler: TracesSampler;
  /** Attributes of the resource, the service's name among them where it is set. */
  readonly resource: Readonly<Record<string, string>>;
}

export interface BootstrapConfig {
  readonly apiKey: string | undefined;
  readonly managementKey: string | undefined;
  /** Of an operator; undefined: one is made where there never was any. */
  readonly adminKey: string | undefined;
  /** Credits granted to the default tenant when it is made. */
  readonly credits: number;
  readonly rateLimitPerMinute: number;
  /** Path of a JSON file that declares tenants and their keys. */
  readonly file: string | undefined;
}

/** An upstream account that is configured, and so can serve routes. */
export interface ProviderConfig {
  /** The first part of aliases, e.g. `openai`. */
  readonly id: string;
  readonly name: string;
  /** The adapter that speaks to it. */
  readonly adapter: string;
  /** The interface's vendor kind. */
  readonly type: ProviderType;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** What only this adapter needs to know, by names of its own. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** Its address comes from a variable or a file of this machine, so it may be sent ambient credentials. */
  readonly isDeclared?: boolean;
  /** Whether fields that nobody documents are kept from it; false unless told. */
  readonly knownFieldsOnly?: boolean;
  /** Whether tenants may use it with accounts of their own; undefined: if it asks for a key. */
  readonly takesOwnAccounts?: boolean;
  /** A pool among which its requests are spread, in the order of their declaration; undefined: one account. */
  readonly accounts?: readonly PoolAccount[];
}

/** One of several accounts or regions of the operator's with a provider. */
export interface PoolAccount {
  /** Unique in its pool: of a-z, A-Z, 0-9, `.`, `_` and `-`. */
  readonly id: string;
  readonly apiKey: string | undefined;
  /** Undefined: the provider's. */
  readonly baseUrl?: string;
  /** Over those of the provider. */
  readonly settings?: ProviderConfig['settings'];
  /** Its share of the requests is this by the sum of all; at least 1. */
  readonly weight: number;
  /** What the vendor allows it in a minute; undefined: as much as comes. */
  readonly requestsPerMinute?: number;
  /** Of input and output together. */
  readonly tokensPerMinute?: number;
  /** Catalogue rows that it serves, by id or with a `*` at the end; undefined: all of the provider's. */
  readonly models?: readonly string[];
  /** Prices in place of a catalogue row's, by the row's id and the names of its `pricing`. */
  readonly prices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const PROVIDER_TYPES = ['openai', 'anthropic', 'azure', 'aws', 'gcp'] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];

/** Injection token of the one AppConfig. */
export const APP_CONFIG = Symbol('APP_CONFIG');

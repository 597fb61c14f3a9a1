import { plainToInstance } from 'class-transformer';
import { resolve } from 'node:path';
import type { AppConfig } from './app-config.js';
import { ConfigError, findViolations } from './config-error.js';
import { EnvDto } from './env.dto.js';
import { LimitsEnv } from './limits-env.js';
import { archiveProblems, changeableParts, CHANGEABLE_SETTINGS } from './live-settings.js';
import {
  configuredProviders,
  ownAccountProviders,
  readVendors,
  readProvidersFile,
} from './configured-providers.js';
import { incompletePeople, PeopleEnv, peopleOf } from './people-env.js';
import { incompleteS3, S3Env, s3Of } from './s3-settings.js';
import { readTelemetry, TelemetryEnv } from './read-telemetry.js';
import { problemsOfVariables } from './pool-accounts.js';
import { withSecretFiles } from './secret-files.js';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE,
  withoutTrailingSlash,
  readNetworks,
  readPricedAs,
  readOrigins,
} from './setting-values.js';
import { secretVariables } from './variable.decorators.js';
import type { VendorSettings } from './vendor-settings.js';

/** Longer than any request, job or journal stays open. */
const LEAST_ARCHIVE_DAYS = 31;

/** Listening on other addresses must be configured. */
const LOOPBACK = '127.0.0.1';

/**
 * Reads every setting from an environment. Empty variables count as unset.
 *
 * @param vendors all vendors, in listing order
 * @throws ConfigError with one line per invalid variable, without values
 */
export function loadConfig(
  environment: NodeJS.ProcessEnv,
  vendors: readonly VendorSettings[],
): AppConfig {
  const problems: string[] = [];
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const classes = [
    EnvDto,
    LimitsEnv,
    PeopleEnv,
    S3Env,
    TelemetryEnv,
    ...vendors.flatMap(({ Variables }) => Variables ?? []),
  ];
  const set = withSecretFiles(given, classes.flatMap(secretVariables), problems);
  const env = plainToInstance(EnvDto, set);
  const limits = plainToInstance(LimitsEnv, set);
  const people = plainToInstance(PeopleEnv, set);
  const s3 = plainToInstance(S3Env, set);
  const telemetry = plainToInstance(TelemetryEnv, set);
  const read = readVendors(vendors, set);
  const own = read.filter(({ vendor }) => vendor.Variables).map((one) => one.env);
  const checked = [env, limits, people, s3, telemetry, ...own];
  const violations = checked.flatMap((one) => findViolations(one, { refuseUnknown: false }));
  problems.push(...violations.map(({ path, message }) => `${path} ${message}`));
  const badVariables = new Set(violations.map(({ path }) => path));
  if (env.DATABASE_URL && !env.GATEWAY_SECRET && !env.GATEWAY_SECRET_FILE) {
    problems.push('GATEWAY_SECRET or GATEWAY_SECRET_FILE must be set when DATABASE_URL is');
  }
  if ((env.WORKERS ?? 1) > 1 && !env.REDIS_URL) {
    problems.push('REDIS_URL must be set when WORKERS is more than 1');
  }
  if (env.GATEWAY_JOB_WORKERS === 'false' && !env.DATABASE_URL) {
    problems.push('DATABASE_URL must be set when GATEWAY_JOB_WORKERS is false');
  }
  problems.push(
    ...read.flatMap(({ vendor, env: given }) => [
      ...(vendor.incomplete?.(given) ?? []),
      ...problemsOfVariables(vendor, given),
    ]),
    ...incompletePeople(people),
    ...incompleteS3(s3),
    ...incompleteArchive(limits, s3),
  );
  const further =
    env.GATEWAY_PROVIDERS && !badVariables.has('GATEWAY_PROVIDERS')
      ? readProvidersFile(env.GATEWAY_PROVIDERS, read, given, problems)
      : { providers: [], entries: [] };
  if (problems.length > 0) throw new ConfigError(problems);

  return deepFreeze<AppConfig>({
    http: {
      port: env.PORT ?? 3000,
      host: env.HOST ?? LOOPBACK,
      publicUrl: env.GATEWAY_PUBLIC_URL && withoutTrailingSlash(env.GATEWAY_PUBLIC_URL),
      corsOrigins: readOrigins(env.GATEWAY_CORS_ORIGINS ?? '') ?? [],
      hasConsole: env.GATEWAY_CONSOLE !== 'off',
    },
    dataDirectory: resolve(env.GATEWAY_DATA_DIR ?? './data'),
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    s3: s3Of(s3),
    secret: env.GATEWAY_SECRET,
    secretFile: env.GATEWAY_SECRET_FILE && resolve(env.GATEWAY_SECRET_FILE),
    previousSecrets: env.GATEWAY_SECRET_PREVIOUS?.split(',').map((each) => each.trim()) ?? [],
    bootstrap: {
      apiKey: env.GATEWAY_BOOTSTRAP_API_KEY,
      managementKey: env.GATEWAY_BOOTSTRAP_MANAGEMENT_KEY,
      adminKey: env.GATEWAY_ADMIN_KEY,
      credits: env.GATEWAY_BOOTSTRAP_CREDITS ?? 10_000_000,
      rateLimitPerMinute:
        env.GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE ?? DEFAULT_RATE_LIMIT_PER_MINUTE,
      file: env.GATEWAY_BOOTSTRAP_FILE,
    },
    customerWrites: env.GATEWAY_CUSTOMER_WRITES ?? 'any',
    providers: configuredProviders(read, further.providers, env.GATEWAY_SANDBOX),
    ownAccountProviders: ownAccountProviders(read, further.providers),
    checksKeys: env.GATEWAY_CHECK_KEYS !== 'off',
    people: peopleOf(people),
    catalogueFile: env.GATEWAY_CATALOGUE,
    unlistedModels: readPricedAs(env.GATEWAY_UNLISTED_MODELS ?? '') ?? [],
    priceList: env.GATEWAY_PRICE_LIST,
    admission: {
      maxInFlightPerKey: limits.GATEWAY_MAX_IN_FLIGHT_PER_KEY ?? 1_000,
      maxInFlightPerTenant: limits.GATEWAY_MAX_IN_FLIGHT_PER_TENANT ?? 2_000,
      bodyBudgetBytes: (limits.GATEWAY_BODY_BUDGET_MB ?? 512) * 1_000_000,
      uploadBudgetBytes: (limits.GATEWAY_UPLOAD_BUDGET_MB ?? 2_048) * 1_000_000,
      managementPerMinute: limits.GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE ?? 600,
      trustedProxies: readNetworks(env.GATEWAY_TRUSTED_PROXIES ?? '') ?? [],
    },
    cache: {
      maxBytes: limits.GATEWAY_CACHE_MAX_BYTES ?? (env.REDIS_URL ? 1024 : 64) * 1024 * 1024,
      maxBytesPerTenant: limits.GATEWAY_CACHE_MAX_BYTES_PER_TENANT ?? 64 * 1024 * 1024,
    },
    allowPrivateDestinations: env.GATEWAY_ALLOW_PRIVATE_DESTINATIONS === 'true',
    telemetry: readTelemetry(telemetry),
    settle: env.GATEWAY_SETTLE ?? 'before-end',
    metricsToken: env.GATEWAY_METRICS_TOKEN,
    queue: { consume: env.GATEWAY_JOB_WORKERS !== 'false' },
    workers: env.WORKERS ?? 1,
    lameDuckSeconds: env.GATEWAY_LAME_DUCK_SECONDS ?? 0,
    drainSeconds: env.GATEWAY_DRAIN_SECONDS ?? 30,
    pendingTracesMaxBytes: (limits.GATEWAY_BROADCAST_PENDING_MB ?? 2_048) * 1_000_000,
    storedContentMaxBytes: (limits.GATEWAY_STORED_CONTENT_MB ?? 100_000) * 1_000_000,
    contentLog: env.GATEWAY_CONTENT_LOG ?? 'off',
    contentRetentionDays: limits.GATEWAY_CONTENT_RETENTION_DAYS ?? 30,
    contentMaxBytes: (limits.GATEWAY_CONTENT_LOG_MB ?? 10_000) * 1_000_000,
    logArchiveAfterDays: limits.GATEWAY_LOG_ARCHIVE_AFTER_DAYS ?? 0,
    ledgerRetentionDays: limits.GATEWAY_LEDGER_RETENTION_DAYS ?? 0,
    auditRetentionDays: limits.GATEWAY_AUDIT_RETENTION_DAYS ?? 0,
    ...changeableParts(env, limits),
    declared: {
      settings: declaredSettings(given),
      providers: further.entries,
      environment: given,
    },
  });
}

/** Returns why the variables do not allow archiving the request log. */
function incompleteArchive(limits: LimitsEnv, { S3_BUCKET }: S3Env): string[] {
  const days = limits.GATEWAY_LOG_ARCHIVE_AFTER_DAYS ?? 0;
  if (!Number.isInteger(days) || days <= 0) return [];
  const problems: string[] = [];
  const name = 'GATEWAY_LOG_ARCHIVE_AFTER_DAYS';
  if (!S3_BUCKET) problems.push(`S3_BUCKET must be set when ${name} is`);
  if (days < LEAST_ARCHIVE_DAYS) problems.push(`${name} must be 0 or at least 31`);
  const { GATEWAY_JOB_DEADLINE_SECONDS: deadline, GATEWAY_ARTIFACT_TTL_SECONDS: lifetime } = limits;
  return [
    ...problems,
    ...archiveProblems({
      archiveAfterDays: days,
      jobs: { deadlineSeconds: deadline ?? 0, artifactTtlSeconds: lifetime ?? 0 },
      logRetentionDays: limits.GATEWAY_LOG_RETENTION_DAYS ?? 0,
    }),
  ];
}

/** Returns the set variables that may change at run time. */
function declaredSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const declared: Record<string, string> = {};
  for (const name of CHANGEABLE_SETTINGS) {
    const value = environment[name];
    if (value !== undefined) declared[name] = value;
  }
  return declared;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/** The only place that reads the process environment. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

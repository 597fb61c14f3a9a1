import { plainToInstance } from 'class-transformer';
import { resolve } from 'node:path';
import type { AppConfig } from './app-config.js';
import { ConfigError } from './config-error.js';
import { EnvDto } from './env.dto.js';
import { findViolations } from './find-violations.js';
import {
  configuredProviders,
  incompleteVendors,
  ownAccountProviders,
} from './configured-providers.js';
import { incompleteS3, s3Of } from './s3-settings.js';
import { readProvidersFile } from './read-providers-file.js';
import { withoutTrailingSlash } from './is-url.js';
import { readTelemetry } from './read-telemetry.js';
import { DEFAULT_RATE_LIMIT_PER_MINUTE } from './setting-bounds.js';

/**
 * Reads every setting from an environment. An empty variable counts as unset.
 * @throws ConfigError with one line per bad variable; values are never repeated in it.
 */
export function loadConfig(environment: NodeJS.ProcessEnv): AppConfig {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const env = plainToInstance(EnvDto, set);
  const violations = findViolations(env, { refuseUnknown: false });
  const problems = violations.map(({ path, message }) => `${path} ${message}`);
  const badVariables = new Set(violations.map(({ path }) => path));
  if (env.DATABASE_URL && !env.GATEWAY_SECRET) {
    problems.push('GATEWAY_SECRET must be set when DATABASE_URL is');
  }
  if ((env.WORKERS ?? 1) > 1 && !env.REDIS_URL) {
    problems.push('REDIS_URL must be set when WORKERS is more than 1');
  }
  if (env.GATEWAY_JOB_WORKERS === 'false' && !env.DATABASE_URL) {
    problems.push('DATABASE_URL must be set when GATEWAY_JOB_WORKERS is false');
  }
  problems.push(...incompleteVendors(env), ...incompleteS3(env));
  const furtherProviders =
    env.GATEWAY_PROVIDERS && !badVariables.has('GATEWAY_PROVIDERS')
      ? readProvidersFile(env.GATEWAY_PROVIDERS, set, problems)
      : [];
  if (problems.length > 0) throw new ConfigError(problems);

  return deepFreeze<AppConfig>({
    http: {
      port: env.PORT ?? 3000,
      host: env.HOST,
      publicUrl: env.GATEWAY_PUBLIC_URL && withoutTrailingSlash(env.GATEWAY_PUBLIC_URL),
    },
    dataDirectory: resolve(env.GATEWAY_DATA_DIR ?? './data'),
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    s3: s3Of(env),
    secret: env.GATEWAY_SECRET,
    bootstrap: {
      apiKey: env.GATEWAY_BOOTSTRAP_API_KEY,
      managementKey: env.GATEWAY_BOOTSTRAP_MANAGEMENT_KEY,
      credits: env.GATEWAY_BOOTSTRAP_CREDITS ?? 10_000_000,
      rateLimitPerMinute:
        env.GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE ?? DEFAULT_RATE_LIMIT_PER_MINUTE,
      file: env.GATEWAY_BOOTSTRAP_FILE,
    },
    customerWrites: env.GATEWAY_CUSTOMER_WRITES ?? 'any',
    providers: configuredProviders(env, furtherProviders),
    ownAccountProviders: ownAccountProviders(env, furtherProviders),
    byokFeePercent: env.GATEWAY_BYOK_FEE_PERCENT ?? 5,
    catalogueFile: env.GATEWAY_CATALOGUE,
    limits: {
      connectTimeoutMs: env.GATEWAY_CONNECT_TIMEOUT_MS ?? 5_000,
      firstByteTimeoutMs: env.GATEWAY_FIRST_BYTE_TIMEOUT_MS,
      idleTimeoutMs: env.GATEWAY_IDLE_TIMEOUT_MS ?? 60_000,
      requestTimeoutMs: env.GATEWAY_REQUEST_TIMEOUT_MS ?? 600_000,
      cooldownMs: env.GATEWAY_COOLDOWN_MS ?? 10_000,
    },
    healthCacheMs: env.GATEWAY_HEALTH_CACHE_MS ?? 5_000,
    cacheMaxBytes: env.GATEWAY_CACHE_MAX_BYTES ?? 64 * 1024 * 1024,
    jobs: {
      pollMs: env.GATEWAY_JOB_POLL_MS ?? 2_000,
      deadlineSeconds: env.GATEWAY_JOB_DEADLINE_SECONDS ?? 3_600,
      artifactTtlSeconds: env.GATEWAY_ARTIFACT_TTL_SECONDS ?? 3_600,
      concurrency: env.GATEWAY_JOB_CONCURRENCY ?? 8,
    },
    allowPrivateDestinations: env.GATEWAY_ALLOW_PRIVATE_DESTINATIONS === 'true',
    telemetry: readTelemetry(env),
    settle: env.GATEWAY_SETTLE ?? 'before-end',
    metricsToken: env.GATEWAY_METRICS_TOKEN,
    queue: { consume: env.GATEWAY_JOB_WORKERS !== 'false' },
    workers: env.WORKERS ?? 1,
    drainSeconds: env.GATEWAY_DRAIN_SECONDS ?? 30,
    responseRetentionDays: env.GATEWAY_RESPONSE_RETENTION_DAYS ?? 30,
    logRetentionDays: env.GATEWAY_LOG_RETENTION_DAYS ?? 0,
  });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

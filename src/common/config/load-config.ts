import { plainToInstance } from 'class-transformer';
import { resolve } from 'node:path';
import type { AppConfig, ProviderConfig } from './app-config.js';
import { ConfigError } from './config-error.js';
import { EnvDto } from './env.dto.js';
import { findViolations } from './find-violations.js';
import { readProvidersFile } from './read-providers-file.js';
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
    providers: withSandbox(env, [...vendors(env), ...furtherProviders]),
    catalogueFile: env.GATEWAY_CATALOGUE,
    limits: {
      connectTimeoutMs: env.GATEWAY_CONNECT_TIMEOUT_MS ?? 5_000,
      firstByteTimeoutMs: env.GATEWAY_FIRST_BYTE_TIMEOUT_MS,
      idleTimeoutMs: env.GATEWAY_IDLE_TIMEOUT_MS ?? 60_000,
      requestTimeoutMs: env.GATEWAY_REQUEST_TIMEOUT_MS ?? 600_000,
      cooldownMs: env.GATEWAY_COOLDOWN_MS ?? 10_000,
    },
    settle: env.GATEWAY_SETTLE ?? 'before-end',
    metricsToken: env.GATEWAY_METRICS_TOKEN,
    workers: env.WORKERS ?? 1,
    drainSeconds: env.GATEWAY_DRAIN_SECONDS ?? 30,
  });
}

/** A vendor is configured when its credential is there. */
function vendors(env: EnvDto): ProviderConfig[] {
  if (!env.OPENAI_API_KEY) return [];
  return [
    {
      id: 'openai',
      name: 'OpenAI',
      adapter: 'openai',
      type: 'openai',
      baseUrl: withoutTrailingSlash(env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'),
      apiKey: env.OPENAI_API_KEY,
    },
  ];
}

/** The sandbox is on when asked for, and by default when there is nothing else to call. */
function withSandbox(env: EnvDto, configured: ProviderConfig[]): ProviderConfig[] {
  const isOn = env.GATEWAY_SANDBOX ? env.GATEWAY_SANDBOX === 'true' : configured.length === 0;
  if (!isOn) return configured;
  return [
    ...configured,
    {
      id: 'sandbox',
      name: 'Sandbox',
      adapter: 'sandbox',
      type: 'openai',
      baseUrl: '',
      apiKey: undefined,
    },
  ];
}

function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

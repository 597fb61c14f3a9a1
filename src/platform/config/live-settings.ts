import { plainToInstance } from 'class-transformer';
import { DAY_MS } from '../time/dates.js';
import type { AppConfig, ProviderConfig } from './app-config.js';
import { findViolations } from './config-error.js';
import { takesOwnAccounts, withoutKey } from './configured-providers.js';
import { EnvDto } from './env.dto.js';
import { LimitsEnv } from './limits-env.js';
import {
  changeableVariables,
  describeVariables,
  type DescribedVariable,
} from './variable.decorators.js';

/** Values by variable name, as versions have them. */
export type SettingValues = Readonly<Record<string, string | number>>;

/** The settings that may change at run time. */
type ChangeableParts = Pick<
  AppConfig,
  | 'byokFeePercent'
  | 'hedgePercent'
  | 'limits'
  | 'healthCacheMs'
  | 'jobs'
  | 'log'
  | 'responseRetentionDays'
  | 'logRetentionDays'
>;

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** Returns those settings of validated variables. */
export function changeableParts(env: EnvDto, limits: LimitsEnv): ChangeableParts {
  return {
    byokFeePercent: env.GATEWAY_BYOK_FEE_PERCENT ?? 5,
    hedgePercent: limits.GATEWAY_HEDGE_PERCENT ?? 10,
    limits: {
      connectTimeoutMs: limits.GATEWAY_CONNECT_TIMEOUT_MS ?? 5_000,
      firstByteTimeoutMs: limits.GATEWAY_FIRST_BYTE_TIMEOUT_MS,
      idleTimeoutMs: limits.GATEWAY_IDLE_TIMEOUT_MS ?? 60_000,
      requestTimeoutMs: limits.GATEWAY_REQUEST_TIMEOUT_MS ?? 600_000,
      cooldownMs: limits.GATEWAY_COOLDOWN_MS ?? 10_000,
    },
    healthCacheMs: limits.GATEWAY_HEALTH_CACHE_MS ?? 5_000,
    jobs: {
      pollMs: limits.GATEWAY_JOB_POLL_MS ?? 2_000,
      deadlineSeconds: limits.GATEWAY_JOB_DEADLINE_SECONDS ?? 3_600,
      artifactTtlSeconds: limits.GATEWAY_ARTIFACT_TTL_SECONDS ?? 3_600,
      concurrency: limits.GATEWAY_JOB_CONCURRENCY ?? 8,
      maxOpenPerTenant: limits.GATEWAY_MAX_OPEN_JOBS_PER_TENANT ?? 1_000,
    },
    log: { level: env.LOG_LEVEL ?? 'info', requests: env.GATEWAY_REQUEST_LOG !== 'off' },
    responseRetentionDays: limits.GATEWAY_RESPONSE_RETENTION_DAYS ?? 30,
    logRetentionDays: limits.GATEWAY_LOG_RETENTION_DAYS ?? 0,
  };
}

/** Names of the variables that may change at run time. */
export const CHANGEABLE_SETTINGS: readonly string[] = [EnvDto, LimitsEnv].flatMap(
  changeableVariables,
);

let described: ReadonlyMap<string, DescribedVariable> | undefined;

/** Describes a setting by variable name. Computed once, on first use. */
export function describeSetting(name: string): DescribedVariable | undefined {
  described ??= new Map(
    [EnvDto, LimitsEnv].flatMap(describeVariables).map((variable) => [variable.name, variable]),
  );
  return described.get(name);
}

/**
 * Returns what is wrong with a version's settings, one line each that begins with the setting's name.
 *
 * @param config of this process: some limits relate settings of both kinds
 */
export function problemsOfSettings(settings: SettingValues, config: AppConfig): string[] {
  const unknown = Object.keys(settings).filter((name) => !CHANGEABLE_SETTINGS.includes(name));
  if (unknown.length > 0) {
    return unknown.map(
      (name) =>
        `${name} cannot change while the service runs; only these can: ${CHANGEABLE_SETTINGS.join(', ')}`,
    );
  }
  const { env, limits } = parse(settings);
  const violations = [env, limits].flatMap((one) => findViolations(one, { refuseUnknown: false }));
  if (violations.length > 0) return violations.map(({ path, message }) => `${path} ${message}`);
  const { jobs, logRetentionDays } = changeableParts(env, limits);
  return archiveProblems({ archiveAfterDays: config.logArchiveAfterDays, jobs, logRetentionDays });
}

/** Returns why the settings do not allow archiving the request log. */
export function archiveProblems({
  archiveAfterDays,
  jobs: { deadlineSeconds, artifactTtlSeconds },
  logRetentionDays,
}: Pick<AppConfig, 'logRetentionDays'> & {
  readonly archiveAfterDays: number;
  readonly jobs: Pick<AppConfig['jobs'], 'deadlineSeconds' | 'artifactTtlSeconds'>;
}): string[] {
  if (archiveAfterDays <= 0) return [];
  const problems: string[] = [];
  const name = 'GATEWAY_LOG_ARCHIVE_AFTER_DAYS';
  // A job that ended may be refunded until its result is gone, and the refund reads its log row.
  if ((deadlineSeconds + artifactTtlSeconds) * 1_000 >= (archiveAfterDays - 1) * DAY_MS) {
    problems.push(
      `${name} must be more days than GATEWAY_JOB_DEADLINE_SECONDS and GATEWAY_ARTIFACT_TTL_SECONDS are together`,
    );
  }
  if (logRetentionDays > 0 && logRetentionDays <= archiveAfterDays) {
    problems.push(`${name} must be less than GATEWAY_LOG_RETENTION_DAYS`);
  }
  return problems;
}

/** Holds the settings in use: those of the start, except the ones that versions may change. Read changeable ones from `config` at each use. */
export class LiveSettings {
  private readonly current: Mutable<AppConfig>;
  private further: readonly ProviderConfig[] = [];
  private readonly listeners = new Set<() => void>();
  /** Names of settings that variables override. */
  overridden: ReadonlySet<string>;

  constructor(private readonly started: AppConfig) {
    this.current = { ...started };
    this.overridden = new Set(Object.keys(started.declared.settings));
  }

  get config(): AppConfig {
    return this.current;
  }

  /** Applies a version's validated settings, and its providers in addition to those of the start. Variables and files take precedence. */
  use(settings: SettingValues, providers: readonly ProviderConfig[]): void {
    const declared = normalSettings(this.current.declared.settings);
    this.overridden = new Set(
      Object.keys(declared).filter((name) => declared[name] !== settings[name]),
    );
    const { env, limits } = parse({ ...settings, ...declared });
    const { limits: times, jobs, ...parts } = changeableParts(env, limits);
    const taken = new Set(this.started.providers.map(({ id }) => id));
    const further = providers.filter(({ id }) => !taken.has(id));
    if (JSON.stringify(further) !== JSON.stringify(this.further)) {
      this.further = further;
      const ofTenants = new Set(this.started.ownAccountProviders.map(({ id }) => id));
      Object.assign(this.current, {
        providers: [...this.started.providers, ...further],
        ownAccountProviders: [
          ...this.started.ownAccountProviders,
          ...further
            .filter((one) => takesOwnAccounts(one) && !ofTenants.has(one.id))
            .map(withoutKey),
        ],
      });
    }
    Object.assign(this.current, parts, {
      // Fixed at the start: connections and queues are created with them.
      limits: { ...times, connectTimeoutMs: this.current.limits.connectTimeoutMs },
      jobs: { ...jobs, concurrency: this.current.jobs.concurrency },
    });
    for (const listener of this.listeners) listener();
  }

  /** Calls the listener after each change. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }
}

/** Returns validated settings in a fixed order, with numbers as numbers. */
export function normalSettings(settings: SettingValues): SettingValues {
  const { env, limits } = parse(settings);
  const own = (Variables: typeof EnvDto | typeof LimitsEnv, read: object) => {
    const names = changeableVariables(Variables).filter((name) => name in settings);
    const values: Record<string, string | number> = { ...read };
    return names.map((name) => [name, values[name] ?? ''] as const);
  };
  return Object.fromEntries<string | number>([...own(EnvDto, env), ...own(LimitsEnv, limits)]);
}

function parse(settings: SettingValues): { env: EnvDto; limits: LimitsEnv } {
  return { env: plainToInstance(EnvDto, settings), limits: plainToInstance(LimitsEnv, settings) };
}

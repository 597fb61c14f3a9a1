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

/** Values by the names of their variables, as a version has them. */
export type SettingValues = Readonly<Record<string, string | number>>;

/** The parts of the settings that may change while the service runs. */
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

/** Those parts, of variables that have been checked. */
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

/** Names of the variables that may change while the service runs. */
export const CHANGEABLE_SETTINGS: readonly string[] = [EnvDto, LimitsEnv].flatMap(
  changeableVariables,
);

let described: ReadonlyMap<string, DescribedVariable> | undefined;

/** What a setting means, by the name of its variable. They are worked out once, when first asked for. */
export function describeSetting(name: string): DescribedVariable | undefined {
  described ??= new Map(
    [EnvDto, LimitsEnv].flatMap(describeVariables).map((variable) => [variable.name, variable]),
  );
  return described.get(name);
}

/**
 * What is wrong with settings of a version, a line each that begins with the setting's name.
 *
 * @param config of this process: some limits hold between settings of both kinds
 */
export function problemsOfSettings(settings: SettingValues, config: AppConfig): string[] {
  const unknown = Object.keys(settings).filter((name) => !CHANGEABLE_SETTINGS.includes(name));
  if (unknown.length > 0) {
    return unknown.map(
      (name) =>
        `${name} is no setting that may change while the service runs; those are ${CHANGEABLE_SETTINGS.join(', ')}`,
    );
  }
  const { env, limits } = parse(settings);
  const violations = [env, limits].flatMap((one) => findViolations(one, { refuseUnknown: false }));
  if (violations.length > 0) return violations.map(({ path, message }) => `${path} ${message}`);
  const { jobs, logRetentionDays } = changeableParts(env, limits);
  return archiveProblems({ archiveAfterDays: config.logArchiveAfterDays, jobs, logRetentionDays });
}

/** Why old months of the request log cannot be archived as the settings say. */
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

/**
 * The settings as the service reads them: all as they were at the start, but for those that a version
 * may change. Whoever wants the latter as they are now reads them at each use, of the one `config`.
 */
export class LiveSettings {
  private readonly current: Mutable<AppConfig>;
  private further: readonly ProviderConfig[] = [];
  private readonly listeners = new Set<() => void>();
  /** Names of settings that variables make other than the version has them. */
  overridden: ReadonlySet<string>;

  constructor(private readonly started: AppConfig) {
    this.current = { ...started };
    this.overridden = new Set(Object.keys(started.declared.settings));
  }

  get config(): AppConfig {
    return this.current;
  }

  /**
   * Takes a version's settings, and its providers beside those of the start; what a variable or a file
   * declares stays. They have been checked.
   */
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
      // Of the start in any case: connections are made with the one, queues with the other.
      limits: { ...times, connectTimeoutMs: this.current.limits.connectTimeoutMs },
      jobs: { ...jobs, concurrency: this.current.jobs.concurrency },
    });
    for (const listener of this.listeners) listener();
  }

  /** To be told of each change. */
  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }
}

/** The same settings, numbers as numbers, in one order. They have been checked. */
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

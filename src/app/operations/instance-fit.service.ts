import { hostname } from 'node:os';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { ConfigurationService } from '../../core/configuration/configuration.service.js';
import {
  InstanceService,
  type InstanceFacts,
  type LivingInstance,
} from '../../core/ledger/instance.service.js';
import { ArtifactStore } from '../../features/jobs/artifacts/artifact-store.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { programVersion } from '../../platform/config/program-version.js';
import { secretFingerprint } from '../../platform/crypto/secret-box.js';
import { Database } from '../../platform/database/database.js';
import { DueWork } from '../../platform/database/due-work.js';
import { describeNewerSchema, readNewerSchema } from '../../platform/database/migrate-database.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { MIGRATIONS } from '../../platform/database/migrations.js';
import { findForeignSecret } from '../stored-secrets.js';

/** Interval of a sole instance. With other instances, checks run every few seconds. */
const CHECK_EVERY_MS = 30_000;
const KNOWN_MIGRATIONS = MIGRATIONS.map(({ name }) => name);

/** A difference from the database or other instances. The reason is a sentence for the operator. */
export interface Misfit {
  readonly part: 'secret' | 'schema' | 'artifacts' | 'catalogue' | 'config';
  readonly reason: string;
}

/**
 * Checks whether this process fits the database and the other instances on it. Reports differences
 * at startup and on `/readyz`, and keeps running. See decision 30.
 */
@Injectable()
export class InstanceFit implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(InstanceFit.name);
  private readonly timer = new SweepTimer(
    () => this.check(),
    // The database outage is already reported.
    () => undefined,
  );
  private facts: InstanceFacts | undefined;
  private found: readonly Misfit[] = [];
  /** Ids of instances with another configuration version at the last check, which may be rolling out. */
  private behind: ReadonlySet<string> = new Set();
  /** Latest configuration version at the last check. */
  private latest = 0;

  constructor(
    private readonly instance: InstanceService,
    private readonly database: Database,
    private readonly catalogue: CatalogueService,
    private readonly artifacts: ArtifactStore,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly configuration: ConfigurationService,
    private readonly dueWork: DueWork,
  ) {}

  /** At most a few seconds old, or half a minute without other instances. The configuration is current. */
  get misfits(): readonly Misfit[] {
    const { adoptionFault: reason } = this.configuration;
    return reason === undefined ? this.found : [{ part: 'config', reason }, ...this.found];
  }

  onApplicationBootstrap(): void {
    this.timer.startLater(CHECK_EVERY_MS);
    const areOthers = `EXISTS (SELECT FROM instances WHERE id <> '${this.instance.id}')`;
    this.dueWork.watch(areOthers, this.timer);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Registers this process and checks the others. Call before the service listens. */
  async join(role: InstanceFacts['role']): Promise<void> {
    this.facts = {
      role,
      version: programVersion(),
      host: hostname(),
      pid: process.pid,
      schema: KNOWN_MIGRATIONS.at(-1) ?? '',
      secret: secretFingerprint(gatewaySecrets(this.config)[0] ?? ''),
      ...this.configFacts(),
      artifacts: await this.artifacts.whereabouts(),
    };
    await this.instance.describe(this.facts);
    this.configuration.onChange(() => void this.updateFacts());
    await this.check();
  }

  /** Reports a version that the previous check had already found and that is not in use here. */
  private async lateness(): Promise<Misfit[]> {
    if (this.configuration.adoptionFault !== undefined) return [];
    const latest = await this.configuration.latestNumber();
    const own = this.configuration.current?.number ?? 0;
    const isLate = this.latest > own;
    this.latest = latest;
    if (!isLate) return [];
    const reason = `This instance uses version ${own} of the configuration, but version ${latest} is the latest. It keeps the old one until it can read the new one.`;
    return [{ part: 'config', reason }];
  }

  private configFacts(): Pick<InstanceFacts, 'catalogue' | 'config' | 'config_version'> {
    return {
      catalogue: this.catalogue.fingerprint,
      config_version: this.configuration.current?.number ?? null,
      config: this.configuration.fingerprint,
    };
  }

  private async updateFacts(): Promise<void> {
    if (!this.facts) return;
    this.facts = { ...this.facts, ...this.configFacts() };
    try {
      await this.instance.describe(this.facts);
    } catch (error) {
      this.logger.warn(`instance description not updated: ${messageOf(error)}`);
    }
  }

  /** Repeats the check and logs changes. */
  async check(): Promise<void> {
    const { facts } = this;
    if (!facts) return;
    const before = new Set(this.found.map(({ reason }) => reason));
    const foreign = await findForeignSecret(this.database.lookUps, gatewaySecrets(this.config));
    const newer = await readNewerSchema(this.database.lookUps, KNOWN_MIGRATIONS);
    const living = await this.instance.living();
    const others = living.filter(({ id }) => id !== this.instance.id);
    const behind = others.filter((other) => other.facts.config_version !== facts.config_version);
    const known = this.behind;
    this.behind = new Set(behind.map(({ id }) => id));
    const settled = others.filter(({ id }) => known.has(id) || !this.behind.has(id));
    this.found = [
      ...(foreign === undefined ? [] : [{ part: 'secret' as const, reason: foreign }]),
      ...(newer ? [describeSchemaMisfit(newer)] : []),
      ...this.configuration.faults.map((reason) => ({ part: 'config' as const, reason })),
      ...(await this.lateness()),
      ...comparisons(facts, settled),
    ];
    for (const { reason } of this.found) if (!before.has(reason)) this.logger.warn(reason);
    if (before.size > 0 && this.found.length === 0) {
      this.logger.log('instance fits the others again');
    }
  }
}

function describeSchemaMisfit(newer: Parameters<typeof describeNewerSchema>[0]): Misfit {
  const reason = `${describeNewerSchema(newer)} This instance keeps running but will not start again.`;
  return { part: 'schema', reason };
}

/** Returns the first difference of each kind between this process and others. Pure. */
function comparisons(own: InstanceFacts, others: readonly LivingInstance[]): Misfit[] {
  const differing = (key: 'artifacts' | 'catalogue' | 'config'): LivingInstance | undefined =>
    others.find(({ facts }) => facts[key] !== undefined && facts[key] !== own[key]);
  const otherwise = differing('config');
  const elsewhere = differing('artifacts');
  const other = differing('catalogue');
  return [
    ...(elsewhere
      ? [
          {
            part: 'artifacts' as const,
            reason:
              `Instances do not share their artifacts: this one stores them in ${own.artifacts}, ${nameOf(elsewhere)} in ${elsewhere.facts.artifacts}. ` +
              'Results of a job on one cannot be fetched from the other: set S3_BUCKET on all, or give all the same GATEWAY_DATA_DIR.',
          },
        ]
      : []),
    ...(other
      ? [
          {
            part: 'catalogue' as const,
            reason:
              `Instances have different catalogues: this one's fingerprint is ${own.catalogue}, that of ${nameOf(other)} is ${other.facts.catalogue}. ` +
              'Models, routes and prices depend on which one answers: run the same version with the same GATEWAY_CATALOGUE on all.',
          },
        ]
      : otherwise
        ? [
            {
              part: 'config' as const,
              reason:
                `Instances have different configurations: this one's is ${configOf(own)}, that of ${nameOf(otherwise)} is ${configOf(otherwise.facts)}. ` +
                'Behavior depends on which one answers: set the same variables and GATEWAY_PROVIDERS on all.',
            },
          ]
        : []),
  ];
}

function configOf({ config, config_version: version }: Partial<InstanceFacts>): string {
  return `version ${version ?? 'none'} with the fingerprint ${config}`;
}

function nameOf({ id, facts: { role = 'gateway', version, host } }: LivingInstance): string {
  return `the ${role} ${id.slice(0, 8)} (version ${version} on ${host})`;
}

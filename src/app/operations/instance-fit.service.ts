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

/** By itself: what others do to its database. Beside others it looks every few seconds. */
const LOOK_EVERY_MS = 30_000;
const KNOWN_MIGRATIONS = MIGRATIONS.map(({ name }) => name);

/** What does not fit, and in what way; the reason is a sentence for whoever runs the service. */
export interface Misfit {
  readonly part: 'secret' | 'schema' | 'artifacts' | 'catalogue' | 'config';
  readonly reason: string;
}

/**
 * Whether this process fits the database and the others on it. What does not fit, it says at its start
 * and on `/readyz`, and goes on. See decision 30.
 */
@Injectable()
export class InstanceFit implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(InstanceFit.name);
  private readonly timer = new SweepTimer(
    () => this.look(),
    // The outage is told already.
    () => undefined,
  );
  private facts: InstanceFacts | undefined;
  private found: readonly Misfit[] = [];
  /** Of the look before, by instance: what has come into force a moment ago is not there everywhere yet. */
  private behind: ReadonlySet<string> = new Set();
  /** The latest version as of the look before. */
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

  /** As of the last few seconds, or the last half minute without other instances; the configuration as of now. */
  get misfits(): readonly Misfit[] {
    const { adoptionFault: reason } = this.configuration;
    return reason === undefined ? this.found : [{ part: 'config', reason }, ...this.found];
  }

  onApplicationBootstrap(): void {
    this.timer.startLater(LOOK_EVERY_MS);
    const areOthers = `EXISTS (SELECT FROM instances WHERE id <> '${this.instance.id}')`;
    this.dueWork.watch(areOthers, this.timer);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** To be called before the service listens: says what this process is, and looks at the others. */
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
    this.configuration.onChange(() => void this.describeAnew());
    await this.look();
  }

  /** Of a version that was there at the look before already. */
  private async lateness(): Promise<Misfit[]> {
    if (this.configuration.adoptionFault !== undefined) return [];
    const latest = await this.configuration.latestNumber();
    const own = this.configuration.current?.number ?? 0;
    const isLate = this.latest > own;
    this.latest = latest;
    if (!isLate) return [];
    const reason = `This instance uses version ${own} of the configuration, and ${latest} is the latest: it goes on by the old one until it can read that.`;
    return [{ part: 'config', reason }];
  }

  private configFacts(): Pick<InstanceFacts, 'catalogue' | 'config' | 'config_version'> {
    return {
      catalogue: this.catalogue.fingerprint,
      config_version: this.configuration.current?.number ?? null,
      config: this.configuration.fingerprint,
    };
  }

  private async describeAnew(): Promise<void> {
    if (!this.facts) return;
    this.facts = { ...this.facts, ...this.configFacts() };
    try {
      await this.instance.describe(this.facts);
    } catch (error) {
      this.logger.warn(`This process could not be described anew: ${messageOf(error)}`);
    }
  }

  /** Looks anew, and tells of what has changed. */
  async look(): Promise<void> {
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
      this.logger.log('This instance fits the others again');
    }
  }
}

function describeSchemaMisfit(newer: Parameters<typeof describeNewerSchema>[0]): Misfit {
  const reason = `${describeNewerSchema(newer)} This instance goes on, and will not start again.`;
  return { part: 'schema', reason };
}

/** Pure: what sets this process apart from others, each thing once. */
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
              `Instances do not share their artifacts: this one keeps them in ${own.artifacts}, ${nameOf(elsewhere)} in ${elsewhere.facts.artifacts}. ` +
              'What a job makes on one of them cannot be fetched from the other: set S3_BUCKET on all, or give all one GATEWAY_DATA_DIR.',
          },
        ]
      : []),
    ...(other
      ? [
          {
            part: 'catalogue' as const,
            reason:
              `Instances have different catalogues: this one's fingerprint is ${own.catalogue}, that of ${nameOf(other)} is ${other.facts.catalogue}. ` +
              'Models, routes or prices depend on which of them answers: give all the same version and the same GATEWAY_CATALOGUE.',
          },
        ]
      : otherwise
        ? [
            {
              part: 'config' as const,
              reason:
                `Instances have different configurations: this one's is ${configOf(own)}, that of ${nameOf(otherwise)} is ${configOf(otherwise.facts)}. ` +
                'What they do depends on which of them answers: give all the same variables and GATEWAY_PROVIDERS.',
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

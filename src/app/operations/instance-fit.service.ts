import { hostname } from 'node:os';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
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
import { describeNewerSchema, readNewerSchema } from '../../platform/database/migrate-database.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { MIGRATIONS } from '../migrations.js';
import { findForeignSecret } from '../stored-secrets.js';

const LOOK_EVERY_MS = 5_000;
const KNOWN_MIGRATIONS = MIGRATIONS.map(({ name }) => name);

/** What does not fit, and in what way; the reason is a sentence for whoever runs the service. */
export interface Misfit {
  readonly part: 'secret' | 'schema' | 'artifacts' | 'catalogue';
  readonly reason: string;
}

/**
 * Whether this process fits the database and the others on it. What does not fit, it says at its start
 * and on `/readyz`, and goes on. See decision 31.
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

  constructor(
    private readonly instance: InstanceService,
    private readonly database: Database,
    private readonly catalogue: CatalogueService,
    private readonly artifacts: ArtifactStore,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /** As of the last few seconds. */
  get misfits(): readonly Misfit[] {
    return this.found;
  }

  onApplicationBootstrap(): void {
    this.timer.startLater(LOOK_EVERY_MS);
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
      catalogue: this.catalogue.fingerprint,
      artifacts: await this.artifacts.whereabouts(),
    };
    await this.instance.describe(this.facts);
    await this.look();
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
    this.found = [
      ...(foreign === undefined ? [] : [{ part: 'secret' as const, reason: foreign }]),
      ...(newer ? [describeSchemaMisfit(newer)] : []),
      ...comparisons(facts, others),
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
export function comparisons(own: InstanceFacts, others: readonly LivingInstance[]): Misfit[] {
  const differing = (key: 'artifacts' | 'catalogue'): LivingInstance | undefined =>
    others.find(({ facts }) => facts[key] !== undefined && facts[key] !== own[key]);
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
      : []),
  ];
}

function nameOf({ id, facts: { role = 'gateway', version, host } }: LivingInstance): string {
  return `the ${role} ${id.slice(0, 8)} (version ${version} on ${host})`;
}

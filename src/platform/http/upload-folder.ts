import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Inject,
  Injectable,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { isProcessRunning, processSpace } from '../database/processes.js';
import { BodyBudget, type BodyLease, type BudgetedRequest } from './body-budget.js';
import { HOUR_MS } from '../time/dates.js';
import { SweepTimer } from '../time/sweep-timer.js';

/** Of a process that cannot be asked for, what has not changed for so long is nobody's any more. */
const ABANDONED_AFTER_MS = 2 * HOUR_MS;
const SWEEP_EVERY_MS = 30 * 60_000;

const NAME = /^([0-9a-f]{12})-(\d+)-[0-9a-f-]+$/;

/**
 * Where uploads lie while their request runs: a private folder for each process, so that what a
 * killed process left is told from what a living one still needs, and removed.
 */
@Injectable()
export class UploadFolder implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(UploadFolder.name);
  private readonly root: string;
  private readonly own: string;
  private readonly space = createHash('sha256').update(processSpace()).digest('hex').slice(0, 12);
  private readonly room: BodyBudget;
  private made: Promise<unknown> | undefined;
  private readonly timer = new SweepTimer(
    () => this.sweep(),
    (error) => this.reportFailure(error),
  );

  constructor(@Inject(APP_CONFIG) config: AppConfig) {
    this.root = join(config.dataDirectory, 'tmp', 'uploads');
    this.own = join(this.root, `${this.space}-${process.pid}-${randomUUID()}`);
    livingFolders.add(this.own);
    this.room = new BodyBudget(config.admission.uploadBudgetBytes);
  }

  async onModuleInit(): Promise<void> {
    await this.sweep().catch((error: Error) => this.reportFailure(error));
    this.timer.startLater(SWEEP_EVERY_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
    livingFolders.delete(this.own);
    await rm(this.own, { recursive: true, force: true });
  }

  /** The path of a file that does not exist yet, in a folder that nobody else may look into. */
  async newPath(): Promise<string> {
    this.made ??= mkdir(this.own, { recursive: true, mode: 0o700 });
    try {
      await this.made;
    } catch (error) {
      this.made = undefined;
      throw error;
    }
    return join(this.own, randomUUID());
  }

  /**
   * Room on the disk for one request's upload, until its response has ended: uploads must not fill the
   * disk, on which the database may lie as well.
   */
  lease({ bodyShare, res }: BudgetedRequest): BodyLease | undefined {
    return bodyShare && this.room.shareOf(bodyShare.tenantId).lease(res);
  }

  /** Removes what killed processes left. */
  private async sweep(): Promise<void> {
    const names = await readdir(this.root).catch(() => []);
    for (const name of names) {
      const path = join(this.root, name);
      if (await this.isAbandoned(path, name)) await rm(path, { recursive: true, force: true });
    }
  }

  private reportFailure({ message }: Error): void {
    this.logger.warn(`Abandoned uploads could not be removed: ${message}`);
  }

  private async isAbandoned(path: string, name: string): Promise<boolean> {
    const [, space, processId] = NAME.exec(name) ?? [];
    if (space === undefined || livingFolders.has(path)) return false;
    const pid = Number(processId);
    if (space === this.space) return pid === process.pid || !isProcessRunning(pid);
    const { mtimeMs } = await stat(path);
    return Date.now() - mtimeMs > ABANDONED_AFTER_MS;
  }
}

/** Those of this process, which may hold more than one service. */
const livingFolders = new Set<string>();

/** One folder, and one budget, for all features. */
@Module({ providers: [UploadFolder], exports: [UploadFolder] })
export class UploadsModule {}

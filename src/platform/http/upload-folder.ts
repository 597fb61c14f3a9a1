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

/** Files of a process that cannot be checked are abandoned when unchanged for this long. */
const ABANDONED_AFTER_MS = 2 * HOUR_MS;
const SWEEP_EVERY_MS = 30 * 60_000;

const NAME = /^([0-9a-f]{12})-(\d+)-[0-9a-f-]+$/;

/**
 * Stores uploads while their request runs, in a private folder per process, so that files of killed processes can be
 * recognized and removed.
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

  /** Returns the path of a new file in a folder that only this account can read. */
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

  /** Takes a lease on disk space for a request's upload until its response ends: uploads must not fill the disk, which the database may share. */
  lease({ bodyShare, res }: BudgetedRequest): BodyLease | undefined {
    return bodyShare && this.room.shareOf(bodyShare.tenantId).lease(res);
  }

  /** Removes files of killed processes. */
  private async sweep(): Promise<void> {
    const names = await readdir(this.root).catch(() => []);
    for (const name of names) {
      const path = join(this.root, name);
      if (await this.isAbandoned(path, name)) await rm(path, { recursive: true, force: true });
    }
  }

  private reportFailure({ message }: Error): void {
    this.logger.warn(`abandoned uploads not removed: ${message}`);
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

/** Folders of this process, which may run several services. */
const livingFolders = new Set<string>();

/** One folder and one budget for all features. */
@Module({ providers: [UploadFolder], exports: [UploadFolder] })
export class UploadsModule {}

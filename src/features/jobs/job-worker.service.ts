import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import { JobAfterwards } from './job-afterwards.service.js';
import { JobClaims } from './job-claims.repository.js';
import { JobLanes } from './job-lanes.js';
import { JobLease } from './job-lease.js';
import { JobNotices } from './job-notices.js';
import { JobRunner, type NextLook } from './job-runner.service.js';

/** Wake-ups that wait in this process for the database; each lane has its own, smaller bound. */
const MAX_AT_ONCE = 200;
/** When a job is looked at again whose provider has no room. */
const SHORTEST_DEFERRAL_MS = 250;
const LONGEST_DEFERRAL_MS = 750;
/** A wake-up that comes a moment before its job is due would be lost. */
const MARGIN_MS = 25;

interface Running {
  readonly lease: JobLease;
  readonly isPoll: boolean;
  readonly work: Promise<void>;
}

/** Takes jobs' wake-ups and works on those that are due, as many of a provider as the setting says. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(JobWorker.name);
  private readonly lanes: JobLanes;
  private readonly running = new Set<Running>();
  private isStopping = false;

  constructor(
    private readonly queue: WorkQueue,
    private readonly claims: JobClaims,
    private readonly runner: JobRunner,
    private readonly afterwards: JobAfterwards,
    private readonly notices: JobNotices,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    this.lanes = new JobLanes(config.jobs.concurrency);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    await this.queue.consume('jobs', (id) => this.work(id), { concurrency: MAX_AT_ONCE });
  }

  /** Takes nothing new, and leaves questions to vendors that are under way to others. */
  stopAsking(): void {
    this.isStopping = true;
    for (const { lease, isPoll } of this.running) if (isPoll) lease.abandon();
  }

  /** Submissions are waited for, up to the drain limit; questions to vendors are left to others. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopAsking();
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, this.config.drainSeconds * 1_000);
    });
    await Promise.race([Promise.allSettled([...this.running].map(({ work }) => work)), late]);
    clearTimeout(limit);
    for (const { lease } of this.running) lease.abandon();
  }

  /** One look at a job, or at what is left to do after its end. */
  async work(id: string): Promise<void> {
    if (this.isStopping) return;
    const due = await this.claims.peek(id);
    if (!due) {
      await this.afterwards.attend(id);
      return;
    }
    const isPoll = due.step === 'accepted';
    const leave = this.lanes.enter(due.provider, isPoll ? 'poll' : 'submit');
    if (!leave) {
      await this.defer(id);
      return;
    }
    try {
      await this.workInLane(id, isPoll);
    } finally {
      leave();
    }
  }

  /** Never throws: a worker that fails has its claim run out, and another goes on. */
  private async workInLane(id: string, isPoll: boolean): Promise<void> {
    const claim = await this.claims.claim(id);
    if (!claim) return;
    const lease = new JobLease(this.claims, claim, this.notices);
    const work = this.runner.run(claim, lease).then(
      (next) => this.wakeFor(id, next),
      async (error: unknown) => {
        this.logger.error(`The work on ${id} failed: ${(error as Error).stack}`);
        await this.claims.release(claim, LONGEST_DEFERRAL_MS).catch(() => false);
      },
    );
    const running: Running = { lease, isPoll, work };
    this.running.add(running);
    try {
      await work;
    } finally {
      lease.end();
      this.running.delete(running);
    }
  }

  private async defer(id: string): Promise<void> {
    const span = LONGEST_DEFERRAL_MS - SHORTEST_DEFERRAL_MS;
    const afterMs = Math.round(SHORTEST_DEFERRAL_MS + Math.random() * span);
    if (await this.claims.defer(id, afterMs)) await this.wakeFor(id, { afterMs });
  }

  /** A wake-up that gets lost is made up for by the sweep. */
  private async wakeFor(id: string, next: NextLook): Promise<void> {
    if (!next) return;
    try {
      await this.queue.wake('jobs', id, { delayMs: next.afterMs + MARGIN_MS });
    } catch (error) {
      this.logger.warn(`A wake-up is left to the sweep: ${(error as Error).message}`);
    }
  }
}

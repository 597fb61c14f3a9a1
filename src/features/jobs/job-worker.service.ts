import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { ServiceStop } from '../../platform/time/service-stop.js';
import { endsWithin } from '../../platform/time/within.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import { reasonOf } from './job-failure.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { JobClaims } from './job-claims.repository.js';
import { JobLimiter } from './job-limiter.js';
import { JobLease } from './job-lease.js';
import { JobEndEvents } from './job-waiter.service.js';
import { JobRunner, type NextLook } from './job-runner.service.js';

/**
 * Wake-ups that may wait for the database in this process. The limiter has its own, smaller bound.
 */
const MAX_AT_ONCE = 200;
/**
 * Delay before a queued job is retried, since another instance may have a free slot. Grows with
 * the queue.
 */
const SHORTEST_WAIT_MS = 500;
const WAIT_PER_JOB_MS = 10;
const LONGEST_WAIT_MS = 4_000;
/** Pause after an internal failure. */
const FAILURE_PAUSE_MS = 750;
/** A wake-up that arrives before its job is due would be lost. */
const MARGIN_MS = 25;

interface Running {
  readonly lease: JobLease;
  readonly isPoll: boolean;
  readonly work: Promise<void>;
}

/** Consumes wake-ups and works on due jobs, limited per provider. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(JobWorker.name);
  private readonly limiter: JobLimiter;
  private readonly running = new Set<Running>();
  /** Jobs that got a slot from the queue rather than from a wake-up. */
  private readonly turns = new Set<Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly queue: WorkQueue,
    private readonly claims: JobClaims,
    private readonly runner: JobRunner,
    private readonly followUp: JobFollowUp,
    private readonly endEvents: JobEndEvents,
    private readonly stop: ServiceStop,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    this.limiter = new JobLimiter(config.jobs.concurrency);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    await this.queue.consume('jobs', (id) => this.work(id), {
      concurrency: MAX_AT_ONCE,
      onStop: () => this.stopAsking(),
    });
  }

  /** Stops taking jobs and hands polls in progress to other instances. */
  private stopAsking(): void {
    this.isStopping = true;
    for (const { lease, isPoll } of this.running) if (isPoll) lease.abandon();
  }

  /** Waits for submissions up to the drain limit. Polls are left to other instances. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopAsking();
    const works = [...[...this.running].map(({ work }) => work), ...this.turns];
    await endsWithin(this.stop.leftMs, Promise.allSettled(works));
    for (const { lease } of this.running) lease.abandon();
  }

  /** Processes one wake-up: the job's next step, or its follow-up. */
  async work(id: string): Promise<void> {
    if (this.isStopping) return;
    const due = await this.claims.peek(id);
    if (!due) {
      await this.followUp.run(id);
      return;
    }
    const isPoll = due.step === 'accepted';
    const key = this.limiter.key(due.provider, isPoll ? 'poll' : 'submit');
    if (this.limiter.acquire(key, due.tenantId, id)) await this.workInSlot(key, id, isPoll);
    else await this.comeAgain(key, id);
  }

  /** Passes the slot to the next tenant in line. A job finished elsewhere frees it at once. */
  private async workInSlot(key: string, id: string, isPoll: boolean): Promise<void> {
    try {
      await this.workOn(id, isPoll);
    } finally {
      const next = this.limiter.release(key);
      if (next !== undefined) this.giveTurn(key, next, isPoll);
    }
  }

  /** During shutdown, slots pass through the queue without work until it is empty. */
  private giveTurn(key: string, id: string, isPoll: boolean): void {
    const turn = this.workInSlot(key, id, isPoll)
      .catch((error: Error) => {
        this.logger.warn(`queued job left to the sweep: ${error.message}`);
      })
      .finally(() => this.turns.delete(turn));
    this.turns.add(turn);
  }

  /** Never throws. When a worker fails, its claim expires and another one continues. */
  private async workOn(id: string, isPoll: boolean): Promise<void> {
    if (this.isStopping) return;
    const claim = await this.claims.claim(id);
    if (!claim) return;
    const lease = new JobLease(this.claims, claim, this.endEvents);
    const work = this.runner.run(claim, lease).then(
      (next) => this.wakeFor(id, next),
      async (error: Error) => {
        this.logger.error(`work on ${id} failed: ${error.stack}`);
        await this.claims.release(claim, FAILURE_PAUSE_MS).catch(() => false);
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

  /** The job stays due, so queueing needs no update of its row. */
  private async comeAgain(key: string, id: string): Promise<void> {
    const longestMs = SHORTEST_WAIT_MS + this.limiter.waiting(key) * WAIT_PER_JOB_MS;
    const afterMs = Math.round(Math.min(longestMs, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2));
    await this.wakeFor(id, { afterMs });
  }

  /** The sweep replaces lost wake-ups. */
  private async wakeFor(id: string, next: NextLook): Promise<void> {
    if (!next) return;
    try {
      await this.queue.wake('jobs', id, { delayMs: next.afterMs + MARGIN_MS });
    } catch (error) {
      this.logger.warn(`wake-up left to the sweep: ${reasonOf(error)}`);
    }
  }
}

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

/** Wake-ups that wait in this process for the database; the limiter has its own, smaller bound. */
const MAX_AT_ONCE = 200;
/**
 * When a job that waits for a place is looked at again, since another instance may have one by then;
 * the later the more of them wait.
 */
const SHORTEST_WAIT_MS = 500;
const WAIT_PER_JOB_MS = 10;
const LONGEST_WAIT_MS = 4_000;
/** After a failure of this service's own. */
const FAILURE_PAUSE_MS = 750;
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
  private readonly limiter: JobLimiter;
  private readonly running = new Set<Running>();
  /** Jobs that came by their turn in a key, rather than by a wake-up. */
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

  /** Takes nothing new, and leaves questions to vendors that are under way to others. */
  private stopAsking(): void {
    this.isStopping = true;
    for (const { lease, isPoll } of this.running) if (isPoll) lease.abandon();
  }

  /** Submissions are waited for, up to the drain limit; questions to vendors are left to others. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopAsking();
    const works = [...[...this.running].map(({ work }) => work), ...this.turns];
    await endsWithin(this.stop.leftMs, Promise.allSettled(works));
    for (const { lease } of this.running) lease.abandon();
  }

  /** One look at a job, or at what is left to do after its end. */
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

  /** The place goes on to the tenant whose turn is next; a job that was done elsewhere gives it on at once. */
  private async workInSlot(key: string, id: string, isPoll: boolean): Promise<void> {
    try {
      await this.workOn(id, isPoll);
    } finally {
      const next = this.limiter.release(key);
      if (next !== undefined) this.giveTurn(key, next, isPoll);
    }
  }

  /** Who stops gives all places on in vain, one after the other, until nobody waits. */
  private giveTurn(key: string, id: string, isPoll: boolean): void {
    const turn = this.workInSlot(key, id, isPoll)
      .catch((error: Error) => {
        this.logger.warn(`A turn is left to the sweep: ${error.message}`);
      })
      .finally(() => this.turns.delete(turn));
    this.turns.add(turn);
  }

  /** Never throws: a worker that fails has its claim run out, and another goes on. */
  private async workOn(id: string, isPoll: boolean): Promise<void> {
    if (this.isStopping) return;
    const claim = await this.claims.claim(id);
    if (!claim) return;
    const lease = new JobLease(this.claims, claim, this.endEvents);
    const work = this.runner.run(claim, lease).then(
      (next) => this.wakeFor(id, next),
      async (error: Error) => {
        this.logger.error(`The work on ${id} failed: ${error.stack}`);
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

  /** The job stays due, so that its turn here needs no other change of its row. */
  private async comeAgain(key: string, id: string): Promise<void> {
    const longestMs = SHORTEST_WAIT_MS + this.limiter.waiting(key) * WAIT_PER_JOB_MS;
    const afterMs = Math.round(Math.min(longestMs, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2));
    await this.wakeFor(id, { afterMs });
  }

  /** A wake-up that gets lost is made up for by the sweep. */
  private async wakeFor(id: string, next: NextLook): Promise<void> {
    if (!next) return;
    try {
      await this.queue.wake('jobs', id, { delayMs: next.afterMs + MARGIN_MS });
    } catch (error) {
      this.logger.warn(`A wake-up is left to the sweep: ${reasonOf(error)}`);
    }
  }
}

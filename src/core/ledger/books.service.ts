import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { BooksRun, type BookFinding, type BooksReport } from './books-run.js';

/**
 * Checks the books while the service runs: in a single lock-free snapshot, on its own session, with
 * time limits, and by one process at a time.
 */
@Injectable()
export class BooksService {
  private running: BooksRun | undefined;
  private latest: BooksRun | undefined;

  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'logRetentionDays'>,
  ) {}

  /**
   * Checks the books, or joins a running check of this process.
   *
   * @throws ConflictError (`books`) while another process checks them
   */
  async check(): Promise<BooksReport> {
    const run = this.join();
    try {
      return await run.done;
    } finally {
      this.leave(run);
    }
  }

  /**
   * Yields the time of the snapshot, each finding as it is found, and the final report. Cancels a
   * check without callers.
   *
   * @param signal stops waiting
   * @throws ConflictError (`books`) while another process checks them
   */
  async *watch(signal: AbortSignal): AsyncGenerator<Date | BookFinding | BooksReport, void> {
    const run = this.join();
    const left = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    try {
      let shown = -1;
      let report: BooksReport | undefined;
      const isOver = run.done.then((done) => void (report = done));
      isOver.catch(() => undefined);
      while (!signal.aborted) {
        // Requested first, so that nothing is missed in between.
        const next = run.next();
        if (shown < 0 && run.at) {
          shown = 0;
          yield run.at;
        }
        while (shown >= 0 && shown < run.findings.length) yield run.findings[shown++]!;
        if (report) {
          yield report;
          return;
        }
        await Promise.race([next, isOver, left]);
      }
    } finally {
      this.leave(run);
    }
  }

  private join(): BooksRun {
    if (!this.running) {
      const keepsWholeLog = this.config.logRetentionDays === 0;
      const run = new BooksRun(this.database, keepsWholeLog, this.latest?.done);
      this.running = run;
      this.latest = run;
      const forget = (): void => {
        if (this.running === run) this.running = undefined;
        if (this.latest === run) this.latest = undefined;
      };
      run.done.then(forget, forget);
    }
    this.running.watchers++;
    return this.running;
  }

  private leave(run: BooksRun): void {
    if (--run.watchers > 0 || this.running !== run) return;
    this.running = undefined;
    run.cancel();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from './free-port.js';
import type { PostgresContext } from './postgres-command.js';
import { PostgresProcess } from './postgres-process.js';

/** Waits before each attempt to bring back a PostgreSQL that ended by itself, about 15 s in all. */
const RESTART_DELAYS_MS = [0, 100, 200, 400, 800, 1_600, 3_200, 8_000];

/** A server that ran this long counts as well again: the attempts start anew. */
const STEADY_RUN_MS = 60_000;

const FIRST_START_ATTEMPTS = 6;

/**
 * Failures of a first start that go away: another program took the port between the search for it
 * and its use, or children of a server that was killed are still ending.
 */
const PASSING_FAILURE = /could not create any TCP|still in use/;

/** Keeps one PostgreSQL running on one port until it is told to stop. */
export class PostgresSupervisor {
  port = 0;

  private server: PostgresProcess | undefined;
  private watching: Promise<void> = Promise.resolve();
  private stopping: Promise<void> | undefined;
  private readonly patience = new AbortController();
  private readonly onExit = (): void => this.server?.requestStop();

  constructor(
    private readonly context: PostgresContext,
    private readonly program: string,
    private readonly log: (line: string) => void,
  ) {}

  async start(): Promise<void> {
    // A Node that exits without stopping its database still asks it to end, also while that starts.
    process.on('exit', this.onExit);
    try {
      await this.startFirst();
    } catch (error) {
      process.off('exit', this.onExit);
      throw error;
    }
  }

  private async startFirst(): Promise<void> {
    for (let attempt = 1; this.server === undefined; attempt++) {
      this.port = await findFreePort();
      try {
        this.server = new PostgresProcess(this.context, this.program, this.port);
        await this.server.whenReady();
      } catch (error) {
        this.server = undefined;
        if (attempt === FIRST_START_ATTEMPTS || !PASSING_FAILURE.test((error as Error).message)) {
          throw error;
        }
        await sleep(100 * attempt);
      }
    }
    this.watching = this.watch(this.server);
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopNow();
    return this.stopping;
  }

  private async stopNow(): Promise<void> {
    this.patience.abort();
    await this.server?.stop();
    await this.watching;
    process.off('exit', this.onExit);
  }

  private async watch(first: PostgresProcess): Promise<void> {
    let failures = 0;
    for (let server: PostgresProcess | undefined = first; server !== undefined;) {
      const startedAtMs = Date.now();
      const reason = await server.ended;
      if (this.stopping !== undefined) {
        return;
      }
      this.log(`PostgreSQL ended unexpectedly: ${reason}. Restarting it`);
      failures = Date.now() - startedAtMs > STEADY_RUN_MS ? 0 : failures;
      server = undefined;
      while (server === undefined && failures < RESTART_DELAYS_MS.length) {
        server = await this.restart(RESTART_DELAYS_MS[failures] ?? 0);
        failures++;
        if (this.stopping !== undefined) {
          await server?.stop();
          return;
        }
      }
      this.log(
        server === undefined
          ? `PostgreSQL could not be brought back; see ${this.context.logFile.path}`
          : 'PostgreSQL runs again',
      );
    }
  }

  private async restart(delayMs: number): Promise<PostgresProcess | undefined> {
    try {
      await sleep(delayMs, undefined, { signal: this.patience.signal });
      // The same port, so that connection pools find the server again.
      this.server = new PostgresProcess(this.context, this.program, this.port);
      await this.server.whenReady();
      return this.server;
    } catch {
      return undefined;
    }
  }
}

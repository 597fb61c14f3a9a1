import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SweepTimer } from '../time/sweep-timer.js';
import { Database } from './database.js';

const CHECK_EVERY_MS = 3_000;

/** A sweep and the condition under which it has work. */
interface Watched {
  readonly condition: string;
  readonly sweep: SweepTimer;
}

/**
 * Starts sweeps when they have work. One statement every three seconds checks all conditions: separate
 * polls would nearly always find nothing and keep an idle service busy.
 */
@Injectable()
export class DueWork implements OnApplicationShutdown {
  private readonly watched: Watched[] = [];
  private readonly timer = new SweepTimer(
    () => this.check(),
    // Each sweep then finds and logs the problem itself.
    () => this.watched.forEach(({ sweep }) => sweep.tick()),
  );

  constructor(private readonly database: Database) {}

  /**
   * Starts a round of the sweep within three seconds of the condition becoming true.
   *
   * @param condition boolean SQL without parameters
   */
  watch(condition: string, sweep: SweepTimer): void {
    if (this.watched.length === 0) this.timer.startLater(CHECK_EVERY_MS);
    this.watched.push({ condition, sweep });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  private async check(): Promise<void> {
    const watched = this.watched.filter(({ sweep }) => !sweep.isStopped);
    if (watched.length === 0) return;
    const columns = watched.map(({ condition }, index) => `(${condition}) AS "${index}"`);
    const { rows } = await this.database.lookUps.query<Record<string, boolean>>(
      `SELECT ${columns.join(', ')}`,
    );
    watched.forEach(({ sweep }, index) => {
      if (rows[0]?.[index] === true) sweep.tick();
    });
  }
}

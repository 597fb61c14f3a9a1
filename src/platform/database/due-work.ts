import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SweepTimer } from '../time/sweep-timer.js';
import { Database } from './database.js';

const LOOK_EVERY_MS = 3_000;

/** What a sweep waits for, and the sweep. */
interface Watched {
  readonly condition: string;
  readonly sweep: SweepTimer;
}

/**
 * Begins sweeps when there is something for them: one statement every three seconds asks for all of them, since
 * each by itself would find nothing nearly always, and a service at rest would ask all day.
 */
@Injectable()
export class DueWork implements OnApplicationShutdown {
  private readonly watched: Watched[] = [];
  private readonly timer = new SweepTimer(
    () => this.look(),
    // Each then finds out by itself, and says in its own words what is wrong.
    () => this.watched.forEach(({ sweep }) => sweep.tick()),
  );

  constructor(private readonly database: Database) {}

  /**
   * From now on a round of the sweep begins within three seconds of there being something for it.
   *
   * @param condition SQL without parameters that is true or false
   */
  watch(condition: string, sweep: SweepTimer): void {
    if (this.watched.length === 0) this.timer.startLater(LOOK_EVERY_MS);
    this.watched.push({ condition, sweep });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  private async look(): Promise<void> {
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

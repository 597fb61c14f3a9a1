import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InstanceChannel } from '../../platform/channel/instance-channel.js';
import { DatabaseNotices, notify } from '../../platform/database/database-notices.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { endsWithin } from '../../platform/time/within.js';

const CHANNEL = 'route_pauses';
/**
 * Channel on which instances confirm that they have read a change: `ask` or `seen`, and the
 * question's id.
 */
const CHECKS = 'route_pause_checks';
/** An instance that has not answered by then reads within a few seconds. */
const ANSWER_LIMIT_MS = 1_000;

/** Target of a pause: a model at a provider, or the whole provider. */
export interface PausedThing {
  readonly provider: string;
  /** An alias, or a catalogue row, possibly a family; null for the whole provider. */
  readonly model: string | null;
}

export interface RoutePause extends PausedThing {
  readonly reason: string;
  /** Name of the person who paused it. */
  readonly pausedBy: string;
  readonly pausedAt: Date;
  /** When the pause expires; null for never. */
  readonly until: Date | null;
}

/** A route as a pause may name it. */
interface PausableRoute {
  readonly provider: string;
  readonly model: string;
  readonly catalogueId: string;
}

/**
 * Caches the routes that the operator has paused and reloads them when another process announces a
 * change, so that requests read no database. Tolerates a database outage.
 */
@Injectable()
export class RoutePauses implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RoutePauses.name);
  private pauses: ReadonlyMap<string, RoutePause> = new Map();
  /** The value of `LATEST` as of the cached pauses, or slightly older. */
  private latest = '';
  private reading: Promise<void> | undefined;
  private isStale = false;
  private stopListening: (() => void) | undefined;
  /** Pending confirmations by question id. */
  private readonly pending = new Map<string, () => void>();

  constructor(
    private readonly database: Database,
    private readonly notices: DatabaseNotices,
    private readonly channel: InstanceChannel,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.look();
    this.stopListening = this.notices.listen(CHANNEL, () => void this.lookQuietly(), {
      expression: LATEST,
      known: () => this.latest,
    });
    this.channel.listen(
      CHECKS,
      (text) => void this.receive(text),
      // Reads happen on notification.
      () => undefined,
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopListening?.();
    await this.reading?.catch(() => undefined);
  }

  /** Returns the pause that covers a route, the widest of several. */
  of({ provider, model, catalogueId }: PausableRoute): RoutePause | undefined {
    const { pauses } = this;
    if (pauses.size === 0) return undefined;
    const nowMs = Date.now();
    for (const name of [null, catalogueId, model]) {
      const pause = pauses.get(keyOf({ provider, model: name }));
      if (pause && !isOver(pause, nowMs)) return pause;
    }
    return undefined;
  }

  /** Returns the current pauses, latest first. */
  list(): RoutePause[] {
    const nowMs = Date.now();
    return [...this.pauses.values()].filter((pause) => !isOver(pause, nowMs));
  }

  /** Pauses a target, or changes its pause. Call `spread` after the commit. */
  async pause(transaction: SqlExecutor, pause: Omit<RoutePause, 'pausedAt'>): Promise<void> {
    const { provider, model, reason, pausedBy, until } = pause;
    await transaction.query('DELETE FROM route_pauses WHERE paused_until <= now()');
    await transaction.query(
      `INSERT INTO route_pauses (provider, model, reason, paused_by, paused_until)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT ON CONSTRAINT route_pauses_key DO UPDATE SET
         reason = excluded.reason, paused_by = excluded.paused_by, paused_at = now(),
         paused_until = excluded.paused_until`,
      [provider, model, toStoredText(reason), toStoredText(pausedBy), until],
    );
    await announce(transaction);
  }

  /**
   * @returns the ended pause; undefined when the target was not paused
   */
  async resume(transaction: SqlExecutor, thing: PausedThing): Promise<RoutePause | undefined> {
    const { rows } = await transaction.query<RoutePause>(
      `DELETE FROM route_pauses WHERE provider = $1 AND model IS NOT DISTINCT FROM $2
       RETURNING ${COLUMNS}`,
      // These names are unvalidated.
      [toStoredText(thing.provider), thing.model && toStoredText(thing.model)],
    );
    await announce(transaction);
    return rows[0] && fromRow(rows[0]);
  }

  /**
   * Call after committing a change. Resolves when every request on all instances obeys it, except
   * on instances that do not confirm within a second.
   *
   * @param others number of other instances
   */
  async spread(others: number): Promise<void> {
    await this.look();
    if (others <= 0) return;
    const id = randomUUID();
    let left = others;
    const all = new Promise<void>((resolve) => {
      this.pending.set(id, () => {
        if (--left === 0) resolve();
      });
    });
    if (await this.channel.publish(CHECKS, `ask ${id}`)) await endsWithin(ANSWER_LIMIT_MS, all);
    this.pending.delete(id);
  }

  private async receive(text: string): Promise<void> {
    const [, word, id = ''] = CHECK.exec(text) ?? [];
    const answer = this.pending.get(id);
    if (word === 'seen') answer?.();
    if (word !== 'ask' || answer) return;
    if (await this.lookQuietly()) await this.channel.publish(CHECKS, `seen ${id}`);
  }

  /** Reloads the committed pauses. */
  private look(): Promise<void> {
    // A running read may predate the change.
    if (this.reading) this.isStale = true;
    return (this.reading ??= this.read().finally(() => (this.reading = undefined)));
  }

  private async read(): Promise<void> {
    do {
      this.isStale = false;
      const latest = await this.database.lookUps.query<{ latest: string }>(
        `SELECT (${LATEST}) AS latest`,
      );
      const { rows } = await this.database.lookUps.query<RoutePause>(
        `SELECT ${COLUMNS} FROM route_pauses
         WHERE paused_until IS NULL OR paused_until > now() ORDER BY paused_at DESC`,
      );
      this.pauses = new Map(rows.map((row) => [keyOf(row), fromRow(row)]));
      this.latest = latest.rows[0]?.latest ?? '';
    } while (this.isStale);
  }

  /**
   * @returns whether the read succeeded
   */
  private async lookQuietly(): Promise<boolean> {
    try {
      await this.look();
      return true;
    } catch (error) {
      // The outage is logged already, and the next read is due soon.
      this.logger.debug(`route pauses not read:  ${messageOf(error)}`);
      return false;
    }
  }
}

const CHECK = /^(ask|seen) ([0-9a-f-]{36})$/;

/** Changes with every pause and resumption. */
const LATEST = `SELECT count(*) || ' ' || coalesce(extract(epoch FROM max(paused_at)), 0) FROM route_pauses`;

const COLUMNS = `provider, model, reason, paused_by AS "pausedBy", paused_at AS "pausedAt",
  paused_until AS "until"`;

function announce(transaction: SqlExecutor): Promise<void> {
  return notify(transaction, CHANNEL, '');
}

function keyOf({ provider, model }: PausedThing): string {
  // Provider ids contain no space.
  return model === null ? provider : `${provider} ${model}`;
}

function isOver({ until }: RoutePause, nowMs: number): boolean {
  return until !== null && until.getTime() <= nowMs;
}

function fromRow(row: RoutePause): RoutePause {
  return {
    ...row,
    reason: fromStoredText(row.reason),
    pausedBy: fromStoredText(row.pausedBy),
  };
}

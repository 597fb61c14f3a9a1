import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as wait } from 'node:timers/promises';
import { Database } from '../../platform/database/database.js';
import type { GuardrailAction, GuardrailDirection } from './guardrail-rule.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { within } from '../../platform/time/within.js';

/** A match of a guardrail, without the matched text. */
export interface GuardrailTrigger {
  tenantId: string;
  guardrailId: string;
  requestId: string;
  action: GuardrailAction;
  direction: GuardrailDirection;
  createdAt: Date;
}

/** Triggers kept during a database outage; beyond that the oldest are dropped. */
const MAX_WAITING = 20_000;
const MAX_BATCH = 2_000;
const RETRY_AFTER_MS = 1_000;
const DRAIN_LIMIT_MS = 2_000;

/**
 * Stores and counts triggers in the background. One write runs at a time and the next takes
 * everything that arrived meanwhile, so that a busy guardrail's row is locked once for many
 * requests.
 */
@Injectable()
export class GuardrailTriggerLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger(GuardrailTriggerLog.name);
  private waiting: GuardrailTrigger[] = [];
  private writing: Promise<void> | undefined;
  private isStopping = false;

  constructor(private readonly database: Database) {}

  record(trigger: GuardrailTrigger): void {
    if (this.waiting.length >= MAX_WAITING) this.waiting.shift();
    this.waiting.push(trigger);
    this.writing ??= this.write();
  }

  /** Waits for pending writes, up to a time limit. */
  async drain(): Promise<void> {
    if (this.writing) await within(DRAIN_LIMIT_MS, this.writing, () => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.drain();
  }

  private async write(): Promise<void> {
    // Collects the other triggers of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MAX_BATCH);
      try {
        await this.writeBatch(batch);
      } catch (error) {
        this.logger.error(`guardrail triggers not written: ${messageOf(error)}`);
        if (this.isStopping) break;
        this.waiting.unshift(...batch);
        await wait(RETRY_AFTER_MS, undefined, { ref: false });
      }
    }
    this.writing = undefined;
  }

  private async writeBatch(batch: readonly GuardrailTrigger[]): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query(
        `INSERT INTO guardrail_events
           (tenant_id, guardrail_id, request_id, action, direction, created_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[],
                              $6::timestamptz[])`,
        [
          batch.map(({ tenantId }) => tenantId),
          batch.map(({ guardrailId }) => guardrailId),
          batch.map(({ requestId }) => requestId),
          batch.map(({ action }) => action),
          batch.map(({ direction }) => direction),
          batch.map(({ createdAt }) => createdAt),
        ],
      );
      // Sorted by id, so that two instances cannot deadlock.
      await client.query(
        `WITH triggered AS (
           SELECT guardrail_id, count(*) AS times, max(created_at) AS last_at
             FROM unnest($1::uuid[], $2::timestamptz[]) AS trigger (guardrail_id, created_at)
            GROUP BY guardrail_id
         ), locked AS (
           SELECT id FROM guardrails WHERE id IN (SELECT guardrail_id FROM triggered)
            ORDER BY id FOR UPDATE
         )
         UPDATE guardrails SET
           trigger_count = trigger_count + times,
           last_triggered_at = greatest(last_triggered_at, last_at)
         FROM triggered JOIN locked ON locked.id = guardrail_id
         WHERE guardrails.id = guardrail_id`,
        [batch.map(({ guardrailId }) => guardrailId), batch.map(({ createdAt }) => createdAt)],
      );
    });
  }
}

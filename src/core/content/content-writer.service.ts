import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { messageOf } from '../../platform/errors/thrown.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { within } from '../../platform/time/within.js';
import { GuardrailDirectory } from '../guardrails/guardrail-directory.service.js';
import type { TriggeredGuardrail } from '../../canonical/billable-request.js';
import { ContentCipher } from './content-cipher.js';
import { finishContent, type ContentDraft } from './content-draft.js';
import { ContentRepository, type ContentRow } from './content.repository.js';
import { findExcerpts } from './excerpts.js';

/** Approximate memory of the queue; what does not fit is dropped and counted. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
const MAX_BATCH = 50;
const RETRY_AFTER_MS = 1_000;
/** Time limit of the flush at shutdown. */
const STOP_LIMIT_MS = 3_000;

/** Content waiting to be stored. */
export interface ContentEntry extends ContentDraft {
  readonly requestId: string;
  readonly tenantId: string;
  readonly recordedAt: Date;
  readonly guardrails: readonly TriggeredGuardrail[];
}

export type DropReason = 'buffer_full' | 'storage_full' | 'faulty' | 'stopped';

/**
 * Stores content after answers, in the background. Writes one batch at a time. During a database
 * outage entries wait while there is room.
 */
@Injectable()
export class ContentWriter implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ContentWriter.name);
  private readonly waiting: ContentEntry[] = [];
  private waitingBytes = 0;
  private writing: Promise<void> | undefined;
  private isStopping = false;
  private readonly dropped = new Map<DropReason, number>();
  /** Set while stored content fills its limit. */
  isStorageFull = false;

  constructor(
    private readonly contents: ContentRepository,
    private readonly cipher: ContentCipher,
    private readonly guardrails: GuardrailDirectory,
    metrics: GatewayMetrics,
  ) {
    metrics.track(
      'gateway_content_log_waiting_bytes',
      'Memory of prompts and answers waiting to be stored.',
      () => this.waitingBytes,
    );
    metrics.trackEach(
      'gateway_content_log_dropped_total',
      'Requests whose prompt and answer should have been stored but were dropped, by reason.',
      ['reason'],
      () => [...this.dropped].map(([reason, value]) => ({ labels: { reason }, value })),
      'sum',
    );
  }

  /** Returns whether the queue has room; counts a dropped entry if not. */
  hasRoom(): boolean {
    if (this.isStorageFull) this.drop('storage_full');
    else if (this.waitingBytes >= MAX_WAITING_BYTES) this.drop('buffer_full');
    else return true;
    return false;
  }

  /** Queues an entry after `hasRoom`. */
  write(entry: ContentEntry): void {
    this.waitingBytes += entry.weight;
    this.waiting.push(entry);
    this.writing ??= this.run();
  }

  drop(reason: DropReason): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + 1);
  }

  /** Waits until everything is written. */
  async drain(): Promise<void> {
    while (this.writing) await this.writing;
  }

  async beforeApplicationShutdown(): Promise<void> {
    // Answers that just ended arrive one turn later.
    await new Promise((resolve) => setImmediate(resolve));
    this.isStopping = true;
    await within(STOP_LIMIT_MS, this.drain(), () => undefined);
  }

  private async run(): Promise<void> {
    // Collects the other answers of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.writeBatch(this.waiting.splice(0, MAX_BATCH));
    this.writing = undefined;
  }

  private async writeBatch(batch: readonly ContentEntry[]): Promise<void> {
    const rows: ContentRow[] = [];
    for (const entry of batch) {
      try {
        rows.push(await this.toRow(entry));
      } catch (error) {
        this.drop('faulty');
        this.logger.error(`content not logged: ${nameOf(error)}`);
      }
    }
    while (rows.length > 0) {
      try {
        await this.contents.insert(rows, (key) => this.cipher.wrap(key));
        break;
      } catch (error) {
        // Its message may quote the content.
        this.logger.warn(`content not written: ${nameOf(error)}`);
        const isOurs = error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '');
        if (isOurs || this.isStopping) {
          for (const _ of rows) this.drop(isOurs ? 'faulty' : 'stopped');
          break;
        }
        await wait(RETRY_AFTER_MS, undefined, { ref: false });
      }
    }
    for (const { weight } of batch) this.waitingBytes -= weight;
  }

  private async toRow(entry: ContentEntry): Promise<ContentRow> {
    const { requestId, tenantId, recordedAt } = entry;
    const key = this.cipher.keyFor(tenantId, recordedAt.toISOString().slice(0, 10));
    const excerpts =
      entry.guardrails.length === 0
        ? []
        : findExcerpts(entry.content, entry.guardrails, await this.guardrails.of(tenantId));
    return {
      requestId,
      tenantId,
      key,
      recordedAt,
      body: await this.cipher.encrypt(key, await finishContent(entry), requestId),
      excerpts:
        excerpts.length === 0
          ? null
          : await this.cipher.encrypt(key, JSON.stringify(excerpts), `${requestId}/excerpts`),
    };
  }
}

function nameOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  return error instanceof Error ? `${error.name}${code}` : messageOf(error);
}

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Author } from '../../core/access/author.js';
import { Database } from '../../platform/database/database.js';
import type { Caller } from '../../core/access/caller.js';
import { requireRight } from '../../core/access/key-rights.js';
import { scopeKeyOf, toScope } from '../../core/access/scope.js';
import { ConflictError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import { DELIVERY_TIMEOUT_MS, MAX_DESTINATIONS_PER_TENANT } from './broadcast-limits.js';
import type { BroadcastDestinationEntity } from './broadcast-destination.entity.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DestinationDirectory } from './destination-directory.service.js';
import { DestinationRepository } from './destination.repository.js';
import type {
  UpdateDestinationDto,
  CreateDestinationDto,
  DeletedDestinationDto,
  DestinationDto,
  DestinationTestDto,
} from './destinations.dto.js';
import {
  MASK,
  readDestinationHeaders,
  deliveryHeaders,
  HEADERS_UNREADABLE,
  HeaderEncryption,
} from './destination-headers.js';
import { testTrace } from './test-trace.js';
import { TraceBatch } from './trace-batch.js';

/**
 * Manages a tenant's trace destinations. Changes apply here at once and on other instances within
 * a second.
 */
@Injectable()
export class DestinationsService {
  /** Tenants with a test in progress; one test at a time each. */
  private readonly testing = new Set<string>();

  constructor(
    private readonly destinations: DestinationRepository,
    private readonly directory: DestinationDirectory,
    private readonly client: OutboundClient,
    private readonly metrics: BroadcastMetrics,
    private readonly database: Database,
    private readonly headers: HeaderEncryption,
  ) {}

  async list({ tenantId }: Caller): Promise<DestinationDto[]> {
    return (await this.destinations.list(tenantId)).map((row) => this.toDestination(row));
  }

  async get({ tenantId }: Caller, id: string): Promise<DestinationDto> {
    return this.toDestination(await this.destinations.find(tenantId, id));
  }

  async create(
    caller: Caller,
    author: Author,
    body: CreateDestinationDto,
  ): Promise<DestinationDto> {
    const { tenantId, keyType: madeBy } = caller;
    if (body.include_content) requireRight(caller, 'content', 'include_content');
    const headers = readDestinationHeaders(body.headers ?? {});
    // Before the URL's host is resolved.
    await this.destinations.assertQuota(tenantId, MAX_DESTINATIONS_PER_TENANT);
    await this.client.assertDestinationUrl(body.url, 'url');
    const id = randomUUID();
    const values = {
      ...{ id, tenantId, madeBy, scopeKeyId: scopeKeyOf(caller) },
      isEnabled: body.enabled ?? true,
      url: body.url,
      sealedHeaders: this.headers.encrypt(headers, id),
      samplingRate: body.sampling_rate ?? 1,
      includesContent: body.include_content ?? false,
    };
    const limit = MAX_DESTINATIONS_PER_TENANT;
    const made = await this.database.transaction((transaction) =>
      this.destinations.insert(transaction, author, values, limit),
    );
    this.directory.forget(tenantId);
    return this.toDestination(made);
  }

  /**
   * Changing the server drops pending traces. Changing the URL or `include_content` clears the
   * headers, since they contain credentials that cannot be read back.
   */
  async update(
    caller: Caller,
    author: Author,
    id: string,
    body: UpdateDestinationDto,
  ): Promise<DestinationDto> {
    const { tenantId } = caller;
    const before = await this.destinations.findChangeable(caller, id);
    if (sendsContent(before, body)) requireRight(caller, 'content', 'include_content');
    const losesHeaders =
      (body.url ?? before.url) !== before.url ||
      (body.include_content ?? before.includesContent) !== before.includesContent;
    const kept = losesHeaders ? {} : this.destinations.headersOf(before);
    const given = body.headers ?? (losesHeaders ? {} : undefined);
    const headers = given && readDestinationHeaders(given, kept);
    if (body.url !== undefined) await this.client.assertDestinationUrl(body.url, 'url');
    const isMoved = body.url !== undefined && originOf(body.url) !== originOf(before.url);
    const values = {
      isEnabled: body.enabled,
      url: body.url,
      ...(headers && { sealedHeaders: this.headers.encrypt(headers, id) }),
      samplingRate: body.sampling_rate,
      includesContent: body.include_content,
    };
    const { after, dropped } = await this.database.transaction(async (transaction) => {
      const dropped = isMoved
        ? await this.destinations.removeWaiting(transaction, tenantId, id)
        : 0;
      const row = await this.destinations.lock(transaction, tenantId, id);
      if (row.url !== before.url || row.includesContent !== before.includesContent) {
        throw new ConflictError(
          'id',
          'The destination was changed or deleted meanwhile; read it and try again.',
        );
      }
      const change = { ...values, droppedCount: row.droppedCount + dropped };
      return { after: await this.destinations.update(transaction, author, row, change), dropped };
    });
    this.metrics.countDropped('moved', dropped);
    this.directory.forget(tenantId);
    return this.toDestination(after);
  }

  async delete(caller: Caller, author: Author, id: string): Promise<DeletedDestinationDto> {
    const { tenantId } = caller;
    await this.destinations.findChangeable(caller, id);
    const dropped = await this.database.transaction(async (transaction) => {
      const waiting = await this.destinations.removeWaiting(transaction, tenantId, id);
      const row = await this.destinations.lock(transaction, tenantId, id);
      await this.destinations.remove(transaction, author, row);
      return waiting;
    });
    this.metrics.countDropped('disabled', dropped);
    this.directory.forget(tenantId);
    return { id, deleted: true };
  }

  /** Sends a sample trace, even to a disabled destination. */
  async test({ tenantId }: Caller, author: Author, id: string): Promise<DestinationTestDto> {
    const row = await this.destinations.find(tenantId, id);
    const headers = this.destinations.headersOf(row);
    if (this.testing.has(tenantId)) {
      throw new RateLimitError('id', 'A destination test is in progress. Wait for its outcome.', 1);
    }
    const trace = testTrace(tenantId);
    const { traceId: trace_id } = trace.context;
    if (!headers) {
      return {
        delivered: false,
        status: null,
        error: HEADERS_UNREADABLE,
        duration_ms: 0,
        trace_id,
      };
    }
    this.testing.add(tenantId);
    try {
      const batch = new TraceBatch([id]);
      batch.add(JSON.stringify(draftSpans(trace, { audience: 'tenant', includeContent: false })));
      // Loads OpenTelemetry on first use.
      const { renderBatch } = await import('./render-batch.js');
      const body = await renderBatch(batch.serialize(), { includesContent: false });
      const startedMs = performance.now();
      const outcome = await this.client.post({
        url: row.url,
        headers: deliveryHeaders(headers, randomUUID()),
        body,
        timeoutMs: DELIVERY_TIMEOUT_MS,
      });
      await this.destinations.record(this.database, author, 'test', row, {
        after: { delivered: outcome.ok, status: outcome.status ?? null },
      });
      return {
        delivered: outcome.ok,
        status: outcome.status ?? null,
        error: outcome.ok ? null : outcome.reason,
        duration_ms: Math.round(performance.now() - startedMs),
        trace_id,
      };
    } finally {
      this.testing.delete(tenantId);
    }
  }

  private toDestination(row: BroadcastDestinationEntity): DestinationDto {
    const masked = Object.keys(this.destinations.headersOf(row) ?? {}).map(
      (name) => [name, MASK] as const,
    );
    return {
      id: row.id,
      destination: 'webhook',
      enabled: row.isEnabled,
      url: row.url,
      method: 'POST',
      headers: Object.fromEntries(masked),
      sampling_rate: row.samplingRate,
      include_content: row.includesContent,
      scope: toScope(row.scopeKeyId),
      delivered_count: row.deliveredCount,
      dropped_count: row.droppedCount,
      pending_count: row.pendingCount,
      last_success_at: row.lastSuccessAt?.toISOString() ?? null,
      last_error: row.lastError,
      last_error_at: row.lastErrorAt?.toISOString() ?? null,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    };
  }
}

/** Returns whether the destination receives content after a change. Only disabling it does not count. */
function sendsContent(
  before: BroadcastDestinationEntity,
  { enabled, ...rest }: UpdateDestinationDto,
) {
  const isTurnedOff =
    enabled === false && Object.values(rest).every((value) => value === undefined);
  return (rest.include_content ?? before.includesContent) && !isTurnedOff;
}

function originOf(url: string): string {
  return new URL(url).origin;
}

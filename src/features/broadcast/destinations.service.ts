import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Author } from '../../core/access/author.js';
import { AuditLog, type AuditChange } from '../../core/audit/audit-log.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { Caller } from '../../core/access/caller.js';
import { requireRight } from '../../core/access/key-rights.js';
import { refuseOutOfScope, scopeKeyOf, toScope } from '../../core/access/scope.js';
import { isUuid } from '../../platform/database/stored-text.js';
import {
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
} from '../../platform/errors/gateway-errors.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import { DELIVERY_TIMEOUT_MS, MAX_DESTINATIONS_PER_TENANT } from './broadcast-limits.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DestinationDirectory } from './destination-directory.service.js';
import { DestinationRepository, type DestinationRecord } from './destination.repository.js';
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
    private readonly audit: AuditLog,
  ) {}

  async list({ tenantId }: Caller): Promise<DestinationDto[]> {
    return (await this.destinations.listOfTenant(tenantId)).map(toDestination);
  }

  async get({ tenantId }: Caller, id: string): Promise<DestinationDto> {
    return toDestination(await this.find(tenantId, id));
  }

  async create(
    caller: Caller,
    author: Author,
    body: CreateDestinationDto,
  ): Promise<DestinationDto> {
    const { tenantId, keyType: madeBy } = caller;
    if (body.include_content) requireRight(caller, 'content', 'include_content');
    const headers = readDestinationHeaders(body.headers ?? {});
    // Checked first, since validation resolves host names.
    if ((await this.destinations.countOfTenant(tenantId)) >= MAX_DESTINATIONS_PER_TENANT) {
      throw tooMany();
    }
    await this.client.assertDestinationUrl(body.url, 'url');
    const draft = {
      isEnabled: body.enabled ?? true,
      url: body.url,
      headers,
      samplingRate: body.sampling_rate ?? 1,
      includesContent: body.include_content ?? false,
    };
    const made = await this.database.transaction(async (client) => {
      const limit = MAX_DESTINATIONS_PER_TENANT;
      const record = await this.destinations.insert(
        client,
        tenantId,
        draft,
        { madeBy, scopeKeyId: scopeKeyOf(caller) },
        limit,
      );
      if (!record) throw tooMany();
      await this.record(client, author, tenantId, record.id, {
        verb: 'create',
        before: null,
        after: toAudited(record),
      });
      return record;
    });
    this.directory.forget(tenantId);
    return toDestination(made);
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
    const before = await this.find(tenantId, id);
    refuseOutOfScope(caller, before, 'destination');
    if (sendsContent(before, body)) requireRight(caller, 'content', 'include_content');
    const losesHeaders =
      (body.url ?? before.url) !== before.url ||
      (body.include_content ?? before.includesContent) !== before.includesContent;
    const kept = losesHeaders ? {} : before.headers;
    const given = body.headers ?? (losesHeaders ? {} : undefined);
    const headers = given && readDestinationHeaders(given, kept);
    if (body.url !== undefined) await this.client.assertDestinationUrl(body.url, 'url');
    const isMoved = body.url !== undefined && originOf(body.url) !== originOf(before.url);
    const change = {
      isEnabled: body.enabled,
      url: body.url,
      headers,
      samplingRate: body.sampling_rate,
      includesContent: body.include_content,
    };
    const changed = await this.database.transaction(async (client) => {
      const basis = { before, dropsWaiting: isMoved };
      const result = await this.destinations.update(client, tenantId, id, change, basis);
      const replaced = replacedBy(result.was, result.record);
      await this.record(client, author, tenantId, id, {
        verb: 'update',
        before: toAudited(result.was),
        after: { ...toAudited(result.record), ...(replaced.length > 0 && { replaced }) },
      });
      return result;
    });
    this.metrics.countDropped('moved', changed.dropped);
    this.directory.forget(tenantId);
    return toDestination(changed.record);
  }

  async delete(caller: Caller, author: Author, id: string): Promise<DeletedDestinationDto> {
    const { tenantId } = caller;
    refuseOutOfScope(caller, await this.find(tenantId, id), 'destination');
    const { dropped } = await this.database.transaction(async (client) => {
      const deleted = (await this.destinations.delete(client, tenantId, id)) ?? notFound();
      await this.record(client, author, tenantId, id, {
        verb: 'delete',
        before: toAudited(deleted.was),
        after: null,
      });
      return deleted;
    });
    this.metrics.countDropped('disabled', dropped);
    this.directory.forget(tenantId);
    return { id, deleted: true };
  }

  /** Sends a sample trace, even to a disabled destination. */
  async test({ tenantId }: Caller, author: Author, id: string): Promise<DestinationTestDto> {
    const { url, headers } = await this.find(tenantId, id);
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
        url,
        headers: deliveryHeaders(headers, randomUUID()),
        body,
        timeoutMs: DELIVERY_TIMEOUT_MS,
      });
      await this.record(this.database, author, tenantId, id, {
        verb: 'test',
        before: null,
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

  private record(
    transaction: SqlExecutor,
    author: Author,
    tenantId: string,
    id: string,
    { verb, ...sides }: { verb: string } & Pick<AuditChange, 'before' | 'after'>,
  ): Promise<void> {
    return this.audit.record(transaction, author, {
      tenantId,
      action: `broadcast_destination.${verb}`,
      target: { type: 'broadcast_destination', id },
      ...sides,
    });
  }

  private async find(tenantId: string, id: string): Promise<DestinationRecord> {
    const found = isUuid(id) && (await this.destinations.findOfTenant(tenantId, id));
    return found || notFound();
  }
}

function notFound(): never {
  throw new NotFoundError('id', 'There is no destination with this id.');
}

function tooMany(): InvalidRequestError {
  return new InvalidRequestError(
    'destinations',
    `The limit of ${MAX_DESTINATIONS_PER_TENANT} destinations is reached. Delete one first.`,
  );
}

/** Returns whether the change sends content. Anyone may disable a destination. */
function sendsContent(before: DestinationRecord, { enabled, ...rest }: UpdateDestinationDto) {
  const isTurnedOff =
    enabled === false && Object.values(rest).every((value) => value === undefined);
  return (rest.include_content ?? before.includesContent) && !isTurnedOff;
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** Leaves out header values and URL paths and queries, which can contain credentials. */
function toAudited(record: DestinationRecord): JsonObject {
  return {
    enabled: record.isEnabled,
    origin: originOf(record.url),
    headers: Object.keys(record.headers ?? {}).sort(),
    sampling_rate: record.samplingRate,
    include_content: record.includesContent,
  };
}

/** Returns changed fields that the audit log does not contain in full. */
function replacedBy(before: DestinationRecord, after: DestinationRecord): string[] {
  const names = ['url', 'headers'] as const;
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

function toDestination(record: DestinationRecord): DestinationDto {
  const masked = Object.keys(record.headers ?? {}).map((name) => [name, MASK] as const);
  return {
    id: record.id,
    destination: 'webhook',
    enabled: record.isEnabled,
    url: record.url,
    method: 'POST',
    headers: Object.fromEntries(masked),
    sampling_rate: record.samplingRate,
    include_content: record.includesContent,
    scope: toScope(record.scopeKeyId),
    delivered_count: record.deliveredCount,
    dropped_count: record.droppedCount,
    pending_count: record.pendingCount,
    last_success_at: record.lastSuccessAt?.toISOString() ?? null,
    last_error: record.lastError,
    last_error_at: record.lastErrorAt?.toISOString() ?? null,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}

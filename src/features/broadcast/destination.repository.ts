import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { scopeHolds } from '../../core/access/key-rights.js';
import { scopeIsLive } from '../../core/access/scope.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { ResourceRepository } from '../../core/resources/resource.repository.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { BroadcastDestinationEntity } from './broadcast-destination.entity.js';
import { HeaderEncryption } from './destination-headers.js';

/** Where tenants have traces sent, with encrypted headers. */
@Injectable()
export class DestinationRepository extends ResourceRepository<BroadcastDestinationEntity> {
  protected readonly kind = {
    noun: 'destination',
    plural: 'destinations',
    type: 'broadcast_destination',
  };

  constructor(
    @InjectRepository(BroadcastDestinationEntity)
    destinations: Repository<BroadcastDestinationEntity>,
    database: Database,
    audit: AuditLog,
    private readonly headers: HeaderEncryption,
  ) {
    super(destinations, database, audit);
  }

  /** Undefined when they were encrypted with another `GATEWAY_SECRET`. */
  headersOf(row: BroadcastDestinationEntity): Readonly<Record<string, string>> | undefined {
    return this.headers.decrypt(row.sealedHeaders, row.id);
  }

  /**
   * Removes the deliveries that wait for a destination. Call it before locking the destination: deliveries end in
   * that order, and the reverse order would deadlock.
   *
   * @returns the number of traces removed
   */
  async removeWaiting(transaction: SqlExecutor, tenantId: string, id: string): Promise<number> {
    const { rows } = await transaction.query<{ traces: number }>(
      `WITH gone AS (
       DELETE FROM broadcast_deliveries WHERE id IN (
         SELECT delivery.id FROM broadcast_deliveries delivery
           JOIN broadcast_destinations destination ON destination.id = destination_id
          WHERE destination_id = $2 AND tenant_id = $1
          ORDER BY delivery.id FOR UPDATE OF delivery
       ) RETURNING trace_count
     )
     SELECT coalesce(sum(trace_count), 0)::int AS traces FROM gone`,
      [tenantId, id],
    );
    return rows[0]!.traces;
  }

  /** Returns enabled destinations that receive traces, by tenant. */
  async findChoices(tenantIds: readonly string[]): Promise<Map<string, DestinationChoice[]>> {
    const { rows } = await this.database.lookUps.query<DestinationChoice & { tenantId: string }>(
      `SELECT id, tenant_id AS "tenantId", sampling_rate AS "samplingRate",
              includes_content AND ${scopeHolds('content')} AS "includesContent", scope_key_id AS "scopeKeyId",
              coalesce(last_error_at > coalesce(last_success_at, '-infinity')
                AND last_error_at > now() - interval '2 minutes', false) AS "isFailing"
         FROM broadcast_destinations
        WHERE tenant_id = ANY($1) AND is_enabled AND sampling_rate > 0 AND ${scopeIsLive()}`,
      [tenantIds],
    );
    const choices = new Map<string, DestinationChoice[]>(tenantIds.map((id) => [id, []]));
    for (const { tenantId, ...choice } of rows) choices.get(tenantId)?.push(choice);
    return choices;
  }

  /** Hides header values, and paths and queries of URLs, which may hold keys to the collector. */
  protected toAudited(
    row: BroadcastDestinationEntity,
    before?: BroadcastDestinationEntity,
  ): JsonObject {
    const headers = this.headersOf(row);
    const isUrlReplaced = before && before.url !== row.url;
    const isReplaced = before && !isDeepStrictEqual(this.headersOf(before), headers);
    const replaced = [...(isUrlReplaced ? ['url'] : []), ...(isReplaced ? ['headers'] : [])];
    return {
      enabled: row.isEnabled,
      origin: new URL(row.url).origin,
      headers: Object.keys(headers ?? {}).sort(),
      sampling_rate: row.samplingRate,
      include_content: row.includesContent,
      ...(replaced.length > 0 && { replaced }),
    };
  }
}

/** The fields that decide which traces a destination gets. */
export interface DestinationChoice extends Pick<
  BroadcastDestinationEntity,
  'id' | 'samplingRate' | 'includesContent' | 'scopeKeyId'
> {
  /** True when the most recent delivery failed. */
  isFailing: boolean;
}

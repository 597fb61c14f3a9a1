import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { newestFirst } from '../../platform/database/newest-first.js';
import type { ActorKind } from '../access/author.js';
import { AuditLogEntryEntity } from './audit-log-entry.entity.js';

/** Filters; undefined ones match everything. */
export interface AuditLogFilters {
  readonly tenantId?: string | undefined;
  readonly actorKind?: ActorKind | undefined;
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly targetType?: string | undefined;
  readonly targetId?: string | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive start and exclusive end. */
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
}

/** Rows per read of an export; a row has at most 32 KB. */
const BATCH_SIZE = 200;

/** Reads the audit log of one tenant or of all. */
@Injectable()
export class AuditLogReader {
  constructor(
    @InjectRepository(AuditLogEntryEntity)
    private readonly entries: Repository<AuditLogEntryEntity>,
  ) {}

  /** Returns a page, newest first. @param after time and id of the previous page's last row */
  page(
    { start, end, ...filters }: AuditLogFilters,
    limit: number,
    after?: readonly [time: string | Date, id: string | number],
  ): Promise<AuditLogEntryEntity[]> {
    const query = this.entries.createQueryBuilder('entry').where(withoutAbsent(filters));
    if (start) query.andWhere('entry.createdAt >= :start', { start });
    if (end) query.andWhere('entry.createdAt < :end', { end });
    return newestFirst(query, limit, after).getMany();
  }

  /** Yields all matching rows in batches, newest first. Later rows are not included. */
  async *batches(filters: AuditLogFilters): AsyncGenerator<AuditLogEntryEntity[]> {
    let after: [Date, number] | undefined;
    for (;;) {
      const rows = await this.page(filters, BATCH_SIZE, after);
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (!last || rows.length < BATCH_SIZE) return;
      after = [last.createdAt, last.id];
    }
  }
}

/** TypeORM rejects undefined conditions. */
function withoutAbsent<Filters extends object>(filters: Filters): Partial<Filters> {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Filters>;
}

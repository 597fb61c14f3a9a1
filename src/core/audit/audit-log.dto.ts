import { IntersectionType } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { ACTOR_KINDS, type ActorKind } from '../access/caller.js';
import {
  DateTimeField,
  EnumField,
  MapField,
  StringField,
  UuidField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { DateRangeQueryDto, parseDateRange } from '../../platform/http/date-range.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { AuditLogEntryEntity } from './audit-log-entry.entity.js';
import type { AuditLogFilters } from './audit-log.reader.js';

const FILTER = { optional: true, minLength: 1, maxLength: 255 } as const;

class AuditActorDto {
  @EnumField(ACTOR_KINDS, {
    description:
      'An operator’s key, a tenant’s key, a person, a command on the server, or the start of the service.',
    example: 'api_key',
  })
  kind!: ActorKind;

  @StringField({ nullable: true, description: 'Null for a command or a start.' })
  id!: string | null;

  @StringField({ description: 'The name at that time.', example: 'billing service' })
  name!: string;
}

class AuditTargetDto {
  @StringField({ example: 'api_key' })
  type!: string;

  @StringField({ example: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01' })
  id!: string;
}

export class AuditLogRowDto {
  @StringField({ example: '1042' })
  id!: string;

  @DateTimeField()
  created_at!: string;

  @ObjectField(AuditActorDto)
  actor!: AuditActorDto;

  @UuidField({
    nullable: true,
    description: 'Tenant of the changed object; null for the operator’s own.',
  })
  tenant_id!: string | null;

  @StringField({ example: 'api_key.update' })
  action!: string;

  @ObjectField(AuditTargetDto)
  target!: AuditTargetDto;

  @MapField(true, {
    nullable: true,
    description: 'Relevant fields before the change, without secrets; null for a new object.',
    example: { name: 'billing' },
  })
  before!: JsonObject | null;

  @MapField(true, {
    nullable: true,
    description: 'Relevant fields after the change; null for a deleted object.',
    example: { name: 'billing service' },
  })
  after!: JsonObject | null;

  @UuidField({
    nullable: true,
    description: 'The `x-request-id` of the response; null for changes outside a request.',
  })
  request_id!: string | null;
}

export class AuditLogListDto extends CursorPageDto {
  @ObjectListField(AuditLogRowDto, { description: 'Newest first.' })
  data!: AuditLogRowDto[];
}

/** Filters on changes; all must match. */
export class AuditLogFilterDto extends DateRangeQueryDto {
  @EnumField(ACTOR_KINDS, { optional: true, description: 'Changes by this kind of actor.' })
  actor_kind?: ActorKind;

  @StringField({ ...FILTER, description: 'Changes by the actor with this id.' })
  actor_id?: string;

  @StringField({ ...FILTER, description: 'Matches this action exactly, such as `api_key.revoke`.' })
  action?: string;

  @StringField({ ...FILTER, description: 'Changes to this kind of object, such as `api_key`.' })
  target_type?: string;

  @StringField({ ...FILTER, description: 'Changes to the object with this id.' })
  target_id?: string;

  @UuidField({ optional: true, description: 'Changes made by this request.' })
  request_id?: string;
}

export class AuditLogQueryDto extends IntersectionType(AuditLogFilterDto, CursorPageQueryDto) {}

/** The same filters, across tenants. */
export class AdminAuditLogFilterDto extends AuditLogFilterDto {
  @UuidField({ optional: true, description: 'Changes to objects of this tenant.' })
  tenant_id?: string;
}

export class AdminAuditLogQueryDto extends IntersectionType(
  AdminAuditLogFilterDto,
  CursorPageQueryDto,
) {}

/**
 * @throws InvalidRequestError on a malformed date
 */
export function toAuditFilters(query: AdminAuditLogFilterDto): AuditLogFilters {
  return {
    ...parseDateRange(query.start_date, query.end_date),
    tenantId: query.tenant_id,
    actorKind: query.actor_kind,
    actorId: query.actor_id,
    action: query.action,
    targetType: query.target_type,
    targetId: query.target_id,
    requestId: query.request_id,
  };
}

/** Spells a row as the interface does. */
export function toAuditLogRow(row: AuditLogEntryEntity): AuditLogRowDto {
  return {
    id: String(row.id),
    created_at: row.createdAt.toISOString(),
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    tenant_id: row.tenantId,
    action: row.action,
    target: { type: row.targetType, id: row.targetId },
    before: row.before,
    after: row.after,
    request_id: row.requestId,
  };
}

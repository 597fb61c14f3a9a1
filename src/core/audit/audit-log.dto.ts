import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, IsUUID, Length } from 'class-validator';
import { CursorPageDto, CursorPageQueryDto } from '../../platform/http/cursor-page.js';
import { DateRangeQueryDto, parseDateRange } from '../../platform/http/date-range.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ACTOR_KINDS, type ActorKind } from '../access/caller.js';
import type { AuditLogEntryEntity } from './audit-log-entry.entity.js';
import type { AuditLogFilters } from './audit-log.reader.js';

const MAX_FILTER_LENGTH = 255;

class AuditActorDto {
  @ApiProperty({
    enum: ACTOR_KINDS,
    description:
      'An operator’s key, a tenant’s key, a person, a command on the server, or the start of the service.',
    example: 'api_key',
  })
  kind!: ActorKind;

  @ApiProperty({ type: String, nullable: true, description: 'Null for a command or a start.' })
  id!: string | null;

  @ApiProperty({ description: 'The name at that time.', example: 'billing service' })
  name!: string;
}

class AuditTargetDto {
  @ApiProperty({ example: 'api_key' })
  type!: string;

  @ApiProperty({ example: '7b0c2a52-3f0a-4b39-9d0f-0f9d2b6f1a01' })
  id!: string;
}

export class AuditLogRowDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: AuditActorDto })
  actor!: AuditActorDto;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Tenant of the changed object; null for the operator’s own.',
  })
  tenant_id!: string | null;

  @ApiProperty({ example: 'api_key.update' })
  action!: string;

  @ApiProperty({ type: AuditTargetDto })
  target!: AuditTargetDto;

  @ApiProperty({
    type: Object,
    nullable: true,
    description: 'Relevant fields before the change, without secrets; null for a new object.',
    example: { name: 'billing' },
  })
  before!: JsonObject | null;

  @ApiProperty({
    type: Object,
    nullable: true,
    description: 'Relevant fields after the change; null for a deleted object.',
    example: { name: 'billing service' },
  })
  after!: JsonObject | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The `x-request-id` of the response; null for changes outside a request.',
  })
  request_id!: string | null;
}

export class AuditLogListDto extends CursorPageDto {
  @ApiProperty({ type: [AuditLogRowDto], description: 'Newest first.' })
  data!: AuditLogRowDto[];
}

/** Filters on changes; all must match. */
export class AuditLogFilterDto extends DateRangeQueryDto {
  @ApiPropertyOptional({ enum: ACTOR_KINDS, description: 'Changes by this kind of actor.' })
  @IsOptional()
  @IsIn(ACTOR_KINDS, { message: `actor_kind must be one of ${ACTOR_KINDS.join(', ')}` })
  actor_kind?: ActorKind;

  @ApiPropertyOptional({ description: 'Changes by the actor with this id.' })
  @IsFilter('actor_id')
  actor_id?: string;

  @ApiPropertyOptional({ description: 'Matches this action exactly, such as `api_key.revoke`.' })
  @IsFilter('action')
  action?: string;

  @ApiPropertyOptional({ description: 'Changes to this kind of object, such as `api_key`.' })
  @IsFilter('target_type')
  target_type?: string;

  @ApiPropertyOptional({ description: 'Changes to the object with this id.' })
  @IsFilter('target_id')
  target_id?: string;

  @ApiPropertyOptional({ format: 'uuid', description: 'Changes made by this request.' })
  @IsOptional()
  @IsUUID('all', { message: 'request_id must be a UUID' })
  request_id?: string;
}

export class AuditLogQueryDto extends IntersectionType(AuditLogFilterDto, CursorPageQueryDto) {}

/** The same filters, across tenants. */
export class AdminAuditLogFilterDto extends AuditLogFilterDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Changes to objects of this tenant.' })
  @IsOptional()
  @IsUUID('all', { message: 'tenant_id must be a UUID' })
  tenant_id?: string;
}

export class AdminAuditLogQueryDto extends IntersectionType(
  AdminAuditLogFilterDto,
  CursorPageQueryDto,
) {}

function IsFilter(name: string): PropertyDecorator {
  const message = `${name} must be a single text of 1 to ${MAX_FILTER_LENGTH} characters`;
  return (target, property) => {
    for (const rule of [
      IsOptional(),
      IsString({ message }),
      Length(1, MAX_FILTER_LENGTH, { message }),
    ])
      rule(target, property);
  };
}

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

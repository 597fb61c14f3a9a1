import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags, IntersectionType, OmitType } from '@nestjs/swagger';
import {
  CursorPageDto,
  CursorPageQueryDto,
  readCursor,
  writeCursor,
} from '../../../platform/http/cursor-page.js';
import { UuidField } from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { LogRowDto } from '../../../core/request-log/log-row.dto.js';
import { toLogRow } from '../../../core/request-log/log-rows.js';
import {
  LogRowFilterQueryDto,
  NewerLogsQueryDto,
  readLogFilters,
} from '../../../core/request-log/log-query.dto.js';
import { RequestLogOverTenantsReader } from '../../../core/request-log/request-log-over-tenants.reader.js';
import type { TenantLogRow } from '../../../core/request-log/stored-row.js';
import { TenantLogFilterQueryDto } from '../usage/usage.dto.js';

/** Filters and page. */
class AdminLogsQueryDto extends IntersectionType(
  TenantLogFilterQueryDto,
  LogRowFilterQueryDto,
  CursorPageQueryDto,
) {}

/** A request with its tenant. */
class AdminLogRowDto extends LogRowDto {
  @UuidField({ description: 'Tenant of the request.' })
  tenant_id!: string;
}

export class AdminLogListDto extends CursorPageDto {
  @ObjectListField(AdminLogRowDto, { description: 'Newest first.' })
  data!: AdminLogRowDto[];
}

class NewerAdminLogsQueryDto extends IntersectionType(TenantLogFilterQueryDto, NewerLogsQueryDto) {}

class NewerAdminLogsDto extends OmitType(AdminLogListDto, ['next_cursor']) {}

/** Request logs of all tenants. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/logs')
export class AdminLogsController {
  constructor(private readonly requestLog: RequestLogOverTenantsReader) {}

  @Get()
  @ApiOperation({
    operationId: 'listAdminLogs',
    summary: 'List requests of all tenants, newest first',
    description:
      'A request is listed as soon as it ends. Pages of archived months take seconds. ' +
      'A page scans at most 30,000 rows, so a selective filter can return fewer rows than the limit, or none, while `has_more` is true.',
  })
  @ApiOkResponse({ type: AdminLogListDto })
  @ApiFilters()
  @ApiErrorResponse(503, 'Some requests are archived and the archive is unavailable.')
  async list(@Query() query: AdminLogsQueryDto): Promise<AdminLogListDto> {
    const filters = { ...readLogFilters(query), tenantId: query.tenant_id };
    const [at, id] = readCursor(query.cursor, ['time', 'integer']) ?? [];
    const after = at === undefined || id === undefined ? undefined : { at, id };
    const { rows, next } = await this.requestLog.page(filters, after, query.limit);
    return {
      object: 'list',
      data: rows.map(toAdminLogRow),
      has_more: next !== undefined,
      next_cursor: next ? writeCursor([next.at, next.id]) : null,
    };
  }

  @Get('newer')
  @ApiOperation({
    operationId: 'listNewerAdminLogs',
    summary: 'List new requests of all tenants',
    description: 'Works like `/v1/customer/logs/newer`.',
  })
  @ApiOkResponse({ type: NewerAdminLogsDto })
  @ApiFilters()
  async newer(@Query() query: NewerAdminLogsQueryDto): Promise<NewerAdminLogsDto> {
    const filters = { ...readLogFilters(query), tenantId: query.tenant_id };
    const rows = await this.requestLog.newer(filters, query.since_id, query.limit);
    return {
      object: 'list',
      data: rows.slice(0, query.limit).map(toAdminLogRow),
      has_more: rows.length > query.limit,
    };
  }
}

function toAdminLogRow(row: TenantLogRow): AdminLogRowDto {
  return { ...toLogRow(row), tenant_id: row.tenantId };
}

import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../../../core/access/caller.js';
import { ApiFilters, Customer } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import {
  AuditLogFilterDto,
  AuditLogListDto,
  AuditLogQueryDto,
} from '../../../core/audit/audit-log.dto.js';
import { ApiAuditExport } from '../../../core/audit/audit-log.openapi.js';
import { Members } from '../../../core/access/roles.js';
import { AuditLogService } from '../../../core/audit/audit-log.service.js';
import { sendTextFile } from '../../../platform/http/send-body.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/audit-log')
export class AuditLogController {
  constructor(private readonly log: AuditLogService) {}

  @Get()
  @ApiOperation({
    operationId: 'listAuditLog',
    summary: "List changes to the tenant's account",
    description:
      'Newest first, by all authors. Rejected requests and requests without an effect are not listed.',
  })
  @ApiOkResponse({ type: AuditLogListDto })
  @ApiFilters()
  list(
    @CurrentCaller() { tenantId }: Caller,
    @Query() query: AuditLogQueryDto,
  ): Promise<AuditLogListDto> {
    return this.log.list({ ...query, tenant_id: tenantId });
  }

  @Get('export.csv')
  @ApiAuditExport('csv', 'exportAuditLog', "the tenant's")
  exportCsv(
    @CurrentCaller() { tenantId }: Caller,
    @Query() query: AuditLogFilterDto,
    @Res() response: Response,
  ): Promise<void> {
    return sendTextFile(response, 'audit-log.csv', this.log.csv({ ...query, tenant_id: tenantId }));
  }

  @Get('export.jsonl')
  @ApiAuditExport('jsonl', 'exportAuditLogLines', "the tenant's")
  exportLines(
    @CurrentCaller() { tenantId }: Caller,
    @Query() query: AuditLogFilterDto,
    @Res() response: Response,
  ): Promise<void> {
    return sendTextFile(
      response,
      'audit-log.jsonl',
      this.log.jsonl({ ...query, tenant_id: tenantId }),
    );
  }
}

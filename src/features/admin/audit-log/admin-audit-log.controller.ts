import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import {
  AdminAuditLogFilterDto,
  AdminAuditLogQueryDto,
  AuditLogListDto,
} from '../../../core/audit/audit-log.dto.js';
import { ApiAuditExport } from '../../../core/audit/audit-log.openapi.js';
import { AuditLogService } from '../../../core/audit/audit-log.service.js';
import { sendTextFile } from '../../../platform/http/send-body.js';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/audit-log')
export class AdminAuditLogController {
  constructor(private readonly log: AuditLogService) {}

  @Get()
  @ApiOperation({
    operationId: 'listAllAuditLog',
    summary: 'List changes to all tenants and the service',
    description: 'Newest first. Rejected requests and requests without an effect are not listed.',
  })
  @ApiOkResponse({ type: AuditLogListDto })
  @ApiFilters()
  list(@Query() query: AdminAuditLogQueryDto): Promise<AuditLogListDto> {
    return this.log.list(query);
  }

  @Get('export.csv')
  @ApiAuditExport('csv', 'exportAllAuditLog', 'all')
  exportCsv(@Query() query: AdminAuditLogFilterDto, @Res() response: Response): Promise<void> {
    return sendTextFile(response, 'audit-log.csv', this.log.csv(query));
  }

  @Get('export.jsonl')
  @ApiAuditExport('jsonl', 'exportAllAuditLogLines', 'all')
  exportLines(@Query() query: AdminAuditLogFilterDto, @Res() response: Response): Promise<void> {
    return sendTextFile(response, 'audit-log.jsonl', this.log.jsonl(query));
  }
}

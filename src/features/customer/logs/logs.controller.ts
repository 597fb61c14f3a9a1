import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Report } from '../../../core/access/management-limit.guard.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { CSV_CONTENT_TYPE } from '../../../platform/http/csv.js';
import { sendTextStream } from '../../../platform/http/send-body.js';
import { LogsQueryDto, LogsExportQueryDto, LogListDto } from './logs.dto.js';
import { LogsService } from './logs.service.js';
import { Members } from '../../../core/people/roles.js';

const ARCHIVE_IS_AWAY = 'Some of the requests are archived, and the archive cannot be reached.';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/logs')
export class LogsController {
  constructor(private readonly logs: LogsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listLogs',
    summary: "List the tenant's requests",
    description:
      'Newest first. A request is listed as soon as its answer has ended; one that was refused ' +
      'before it reached a model (400, 401, 404, 429) is not listed.',
  })
  @ApiOkResponse({ type: LogListDto })
  @ApiFilters()
  @ApiErrorResponse(404, 'The tenant has no key with the id given in `api_key_id`.')
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  list(@CurrentCaller() caller: Caller, @Query() query: LogsQueryDto): Promise<LogListDto> {
    return this.logs.list(caller, query);
  }

  @Get('export.csv')
  @Report()
  @ApiOperation({
    operationId: 'exportLogs',
    summary: "Export the tenant's requests",
    description:
      'Newest first, as CSV (RFC 4180) with one header line: the log row with its nested fields ' +
      'side by side. Texts that a spreadsheet would take for formulas begin with an apostrophe.',
  })
  @ApiOkResponse({
    description: 'The log.',
    content: { 'text/csv': { schema: { type: 'string' } } },
  })
  @ApiFilters()
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  export(
    @CurrentCaller() caller: Caller,
    @Query() query: LogsExportQueryDto,
    @Res() response: Response,
  ): Promise<void> {
    const headers = {
      'Content-Type': CSV_CONTENT_TYPE,
      'Content-Disposition': 'attachment; filename="logs.csv"',
    };
    return sendTextStream(response, headers, this.logs.export(caller, query));
  }
}

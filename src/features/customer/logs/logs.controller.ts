import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Report } from '../../../core/access/management-limit.guard.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { sendTextFile } from '../../../platform/http/send-body.js';
import {
  LogDetailDto,
  LogFacetsDto,
  LogFacetsQueryDto,
  LogListDto,
  LogsExportQueryDto,
  LogsQueryDto,
  NewerLogsDto,
} from './logs.dto.js';
import { NewerLogsQueryDto } from '../../../core/request-log/log-query.dto.js';
import { LogsService } from './logs.service.js';
import { Members } from '../../../core/access/roles.js';

const ARCHIVE_IS_AWAY = 'Some requests are archived and the archive is unavailable.';

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
      'Newest first. A request is listed as soon as it ends; requests rejected ' +
      'before reaching a model (400, 401, 404, 429) are not listed.',
  })
  @ApiOkResponse({ type: LogListDto })
  @ApiFilters()
  @ApiErrorResponse(404, 'The tenant has no key with the id in `api_key_id`.')
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  list(@CurrentCaller() caller: Caller, @Query() query: LogsQueryDto): Promise<LogListDto> {
    return this.logs.list(caller, query);
  }

  @Get('newer')
  @ApiOperation({
    operationId: 'listNewerLogs',
    summary: "List the tenant's new requests",
    description:
      'For following the log: rows written after a given row. Instances write concurrently, so a row can appear after one ' +
      'with a higher id. Use an id from a few seconds ago and skip known rows.',
  })
  @ApiOkResponse({ type: NewerLogsDto })
  @ApiFilters()
  newer(@CurrentCaller() caller: Caller, @Query() query: NewerLogsQueryDto): Promise<NewerLogsDto> {
    return this.logs.newer(caller, query);
  }

  @Get('facets')
  @ApiOperation({
    operationId: 'listLogFacets',
    summary: "List filter values of the tenant's requests",
    description: 'Values in use, most frequent first, at most 100 of each.',
  })
  @ApiOkResponse({ type: LogFacetsDto })
  @ApiFilters()
  facets(
    @CurrentCaller() caller: Caller,
    @Query() query: LogFacetsQueryDto,
  ): Promise<LogFacetsDto> {
    return this.logs.facets(caller, query);
  }

  @Get('export.csv')
  @Report()
  @ApiOperation({
    operationId: 'exportLogs',
    summary: "Export the tenant's requests",
    description:
      'Newest first, as CSV (RFC 4180) with a header line and flattened ' +
      'fields. Texts that a spreadsheet would run as formulas are prefixed with an apostrophe.',
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
    return sendTextFile(response, 'logs.csv', this.logs.export(caller, query));
  }

  @Get(':request_id')
  @ApiOperation({
    operationId: 'getLog',
    summary: 'Get a request of the log',
    description: 'Includes guardrail events. Its cost is explained in its receipt.',
  })
  @ApiParam({ name: 'request_id', format: 'uuid', description: '`x-request-id` of the response.' })
  @ApiOkResponse({ type: LogDetailDto })
  @ApiErrorResponse(404, 'The tenant has no request with this id.')
  @ApiErrorResponse(503, ARCHIVE_IS_AWAY)
  get(
    @CurrentCaller() caller: Caller,
    @Param('request_id') requestId: string,
  ): Promise<LogDetailDto> {
    return this.logs.get(caller, requestId);
  }
}

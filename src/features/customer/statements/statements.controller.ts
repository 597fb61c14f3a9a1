import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ApiFilters, Customer } from '../../../core/access/customer.decorator.js';
import { Report } from '../../../core/access/management-limit.guard.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { sendTextFile, sendTextStream } from '../../../platform/http/send-body.js';
import { StatementDto, StatementMonthListDto, StatementQueryDto } from './statements.dto.js';
import { StatementsService } from './statements.service.js';
import { Members } from '../../../core/access/roles.js';

@ApiTags('Customer')
@ApiExtraModels(StatementDto)
@Customer()
@Members('money')
@Controller('v1/customer/statements')
export class StatementsController {
  constructor(private readonly statements: StatementsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listStatements',
    summary: 'List months with spend',
    description:
      'Each month has a statement. Months with grants only have one too, but are not listed.',
  })
  @ApiOkResponse({ type: StatementMonthListDto })
  list(@CurrentCaller() caller: Caller): Promise<StatementMonthListDto> {
    return this.statements.months(caller);
  }

  @Get(':month')
  @Report()
  @ApiOperation({
    operationId: 'getStatement',
    summary: 'Get the statement of a month',
    description:
      'Every grant, correction and charge of the month (UTC), without reservations. Returns JSON, ' +
      'or the entries as CSV with `Accept: text/csv`. With `group_by` or a filter it returns sums ' +
      'of the requests that started in the month instead of entries.',
  })
  @ApiParam({
    name: 'month',
    description: 'Such as `2026-01`.',
    example: '2026-01',
    schema: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' },
  })
  @ApiOkResponse({
    description: 'The statement.',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(StatementDto) } },
      'text/csv': { schema: { type: 'string' } },
    },
  })
  @ApiFilters()
  @ApiErrorResponse(400, 'The month or a query parameter is invalid.')
  get(
    @CurrentCaller() caller: Caller,
    @Param('month') month: string,
    @Query() query: StatementQueryDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['application/json', 'text/csv']) === 'text/csv') {
      return sendTextFile(response, 'statement.csv', this.statements.csv(caller, month, query));
    }
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    return sendTextStream(response, headers, this.statements.json(caller, month, query));
  }
}

import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../../../core/access/caller.js';
import { ApiFilters, Customer } from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Report } from '../../../core/access/management-limit.guard.js';
import { Members } from '../../../core/access/roles.js';
import { sendTextFile } from '../../../platform/http/send-body.js';
import {
  LedgerEntryFilterDto,
  LedgerEntryQueryDto,
  TenantLedgerEntryListDto,
} from './ledger-entries.dto.js';
import { LedgerEntriesService } from './ledger-entries.service.js';

@ApiTags('Customer')
@Customer()
@Members('money')
@Controller('v1/customer/ledger-entries')
export class LedgerEntriesController {
  constructor(private readonly entries: LedgerEntriesService) {}

  @Get()
  @ApiOperation({
    operationId: 'listLedgerEntries',
    summary: "List the tenant's ledger entries, newest first",
    description:
      'Every grant, correction, charge, shortfall and refund, with the resulting balance.',
  })
  @ApiOkResponse({ type: TenantLedgerEntryListDto })
  @ApiFilters()
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: LedgerEntryQueryDto,
  ): Promise<TenantLedgerEntryListDto> {
    return this.entries.list(caller, query);
  }

  @Get('export.csv')
  @Report()
  @ApiOperation({
    operationId: 'exportLedgerEntries',
    summary: "Export the tenant's ledger entries",
    description: 'The list as CSV (RFC 4180) with one header line.',
  })
  @ApiOkResponse({
    description: 'The entries.',
    content: { 'text/csv': { schema: { type: 'string' } } },
  })
  @ApiFilters()
  export(
    @CurrentCaller() caller: Caller,
    @Query() filter: LedgerEntryFilterDto,
    @Res() response: Response,
  ): Promise<void> {
    return sendTextFile(response, 'ledger.csv', this.entries.csv(caller, filter));
  }
}

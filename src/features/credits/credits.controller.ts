import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { CreditsService } from './credits.service.js';
import { ApiFilters, Customer } from '../../core/access/customer.decorator.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import {
  CreditHistoryDto,
  CreditHistoryQueryDto,
  CreditsDto,
  CustomerCreditsDto,
} from './credits.dto.js';
import { Members } from '../../core/access/roles.js';

@ApiTags('Credits')
@Customer()
@Members('money')
@Controller('v1/customer/credits')
export class CustomerCreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ApiOperation({
    operationId: 'getCustomerCredits',
    summary: "Get the tenant's balance, spend and limits",
  })
  @ApiOkResponse({ type: CustomerCreditsDto })
  get(@CurrentCaller() caller: Caller): Promise<CustomerCreditsDto> {
    return this.credits.overview(caller, new Date());
  }

  @Get('history')
  @ApiOperation({
    operationId: 'getCustomerCreditHistory',
    summary: "Get the tenant's daily balance and forecast",
    description:
      'A request counts on the UTC day on which it started, so it may be charged on the next.',
  })
  @ApiOkResponse({ type: CreditHistoryDto })
  @ApiFilters()
  @ApiErrorResponse(503, 'The first day is archived in part, and the archive cannot be reached.')
  history(
    @CurrentCaller() caller: Caller,
    @Query() { days }: CreditHistoryQueryDto,
  ): Promise<CreditHistoryDto> {
    return this.credits.history(caller, days, new Date());
  }
}

@ApiTags('Credits')
@Authenticated('management')
@Members('money')
@Controller('api/v1/credits')
export class CreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ApiOperation({ operationId: 'getCredits', summary: 'Get total credits granted and spent' })
  @ApiOkResponse({ type: CreditsDto })
  async get(@CurrentCaller() caller: Caller): Promise<CreditsDto> {
    return { data: await this.credits.totals(caller) };
  }
}

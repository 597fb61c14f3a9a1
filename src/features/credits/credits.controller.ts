import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { CreditsService } from './credits.service.js';
import { Customer } from '../../core/access/customer.decorator.js';
import { CustomerCreditsDto, CreditsDto } from './credits.dto.js';
import { Members } from '../../core/people/roles.js';

@ApiTags('Credits')
@Customer()
@Members('money')
@Controller('v1/customer/credits')
export class CustomerCreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ApiOperation({
    operationId: 'getCustomerCredits',
    summary: "The tenant's balance, spend and limits",
  })
  @ApiOkResponse({ type: CustomerCreditsDto })
  get(@CurrentCaller() caller: Caller): Promise<CustomerCreditsDto> {
    return this.credits.overview(caller, new Date());
  }
}

@ApiTags('Credits')
@Authenticated('management')
@Members('money')
@Controller('api/v1/credits')
export class CreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ApiOperation({ operationId: 'getCredits', summary: 'Credits granted and spent in total' })
  @ApiOkResponse({ type: CreditsDto })
  async get(@CurrentCaller() caller: Caller): Promise<CreditsDto> {
    return { data: await this.credits.totals(caller) };
  }
}

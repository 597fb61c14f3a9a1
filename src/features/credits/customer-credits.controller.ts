import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { Customer } from '../../core/access/customer.decorator.js';
import { CreditsService } from './credits.service.js';
import { CustomerCreditsDto } from './dto/customer-credits.dto.js';

@ApiTags('Credits')
@Customer()
@Controller('v1/customer/credits')
export class CustomerCreditsController {
  constructor(private readonly credits: CreditsService) {}

  @Get()
  @ApiOperation({ summary: "The tenant's balance, spend and limits" })
  @ApiOkResponse({ type: CustomerCreditsDto })
  get(@CurrentCaller() caller: Caller): Promise<CustomerCreditsDto> {
    return this.credits.overview(caller, new Date());
  }
}

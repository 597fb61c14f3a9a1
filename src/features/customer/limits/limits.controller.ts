import { Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ManagementOnly } from '../../../core/access/authenticated.decorator.js';
import { type Caller } from '../../../core/access/caller.js';
import {
  ApiChange,
  ApiFields,
  ApiFilters,
  Customer,
} from '../../../core/access/customer.decorator.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Members } from '../../../core/access/roles.js';
import { BothLimitsDto, LimitsDto } from '../../../core/limits/limits.dto.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { EachEndUserDto, EndUserDto, EndUserListDto } from './limits.dto.js';
import { CustomerLimitsService } from './limits.service.js';

const ONLY_MANAGEMENT = 'only management keys can set limits of a tenant and its end users';
const EXAMPLES = {
  'At most 5 USD a day and 50 a month': {
    budgets: [
      { period: 'day', credits: 5_000_000 },
      { period: 'month', credits: 50_000_000 },
    ],
  },
  'Some models of some providers, with a request limit': {
    requests_per_minute: 60,
    max_in_flight: 10,
    models: { allow: ['sandbox/*'], deny: ['*-preview'] },
    providers: { deny: ['sandbox'] },
  },
  'Remove all limits': {},
};
const OF_TENANT = 'with budgets, rates and name lists';

@ApiTags('Customer')
@Customer()
@Members('money')
@Controller('v1/customer')
export class LimitsController {
  constructor(private readonly limits: CustomerLimitsService) {}

  @Get('limits')
  @ApiOperation({
    operationId: 'getLimits',
    summary: "Get the tenant's limits",
    description: `Limits of the tenant and of the operator, ${OF_TENANT}, and the remainder of each budget.`,
  })
  @ApiOkResponse({ type: BothLimitsDto })
  get(@CurrentCaller() caller: Caller): Promise<BothLimitsDto> {
    return this.limits.ofTenant(caller);
  }

  @Put('limits')
  @ManagementOnly()
  @Members('own')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'setLimits',
    summary: "Set the tenant's limits",
    description:
      "Replaces the tenant's own limits. None can exceed the operator's, and both apply.",
  })
  @ApiOkResponse({ type: BothLimitsDto })
  @ApiFields(LimitsDto, EXAMPLES, 'budgets.0.credits')
  @ApiChange(`A limit is above the operator's, ${ONLY_MANAGEMENT}`)
  set(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Body() body: LimitsDto,
  ): Promise<BothLimitsDto> {
    return this.limits.setOfTenant(author, caller, body);
  }

  @Get('end-users')
  @ApiOperation({
    operationId: 'listEndUsers',
    summary: 'List limited end users',
    description: 'End users with their own limits or with usage under the default limits, by name.',
  })
  @ApiOkResponse({ type: EndUserListDto })
  @ApiFilters()
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: CursorPageQueryDto,
  ): Promise<EndUserListDto> {
    return this.limits.listEndUsers(caller, query);
  }

  @Get('end-users/default-limits')
  @ApiOperation({
    operationId: 'getEndUserDefaultLimits',
    summary: 'Get the default limits of end users',
  })
  @ApiOkResponse({ type: EachEndUserDto })
  getEach(@CurrentCaller() caller: Caller): Promise<EachEndUserDto> {
    return this.limits.ofEachEndUser(caller);
  }

  @Put('end-users/default-limits')
  @ManagementOnly()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'setEndUserDefaultLimits',
    summary: 'Set the default limits of end users',
    description:
      'Apply separately to each end user without its own limits. Requests without an end user (`user`, `safety_identifier`, `metadata.user_id`) are not counted.',
  })
  @ApiOkResponse({ type: EachEndUserDto })
  @ApiFields(LimitsDto, EXAMPLES, 'budgets.0.credits')
  @ApiChange(ONLY_MANAGEMENT)
  setEach(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Body() body: LimitsDto,
  ): Promise<EachEndUserDto> {
    return this.limits.setForEachEndUser(author, caller, body);
  }

  @Get('end-users/:end_user/limits')
  @ApiOperation({ operationId: 'getEndUserLimits', summary: 'Get the limits of an end user' })
  @ApiOkResponse({ type: EndUserDto })
  @ApiEndUser()
  getOne(@CurrentCaller() caller: Caller, @Param('end_user') name: string): Promise<EndUserDto> {
    return this.limits.ofEndUser(caller, name);
  }

  @Put('end-users/:end_user/limits')
  @ManagementOnly()
  @Members('develop')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'setEndUserLimits',
    summary: 'Set the limits of an end user',
    description: 'Replaces all default limits for this end user.',
  })
  @ApiOkResponse({ type: EndUserDto })
  @ApiFields(LimitsDto, EXAMPLES, 'budgets.0.credits')
  @ApiChange(ONLY_MANAGEMENT)
  @ApiEndUser()
  setOne(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Param('end_user') name: string,
    @Body() body: LimitsDto,
  ): Promise<EndUserDto> {
    return this.limits.setForEndUser(author, caller, name, body);
  }

  @Delete('end-users/:end_user/limits')
  @ManagementOnly()
  @Members('develop')
  @ApiOperation({
    operationId: 'deleteEndUserLimits',
    summary: 'Remove the limits of an end user',
    description: 'The default limits apply again. Its usage is still counted.',
  })
  @ApiOkResponse({ type: EndUserDto })
  @ApiChange(ONLY_MANAGEMENT)
  @ApiEndUser()
  @ApiErrorResponse(404, 'It has no limits of its own.')
  removeOne(
    @CurrentAuthor() author: Author,
    @CurrentCaller() caller: Caller,
    @Param('end_user') name: string,
  ): Promise<EndUserDto> {
    return this.limits.setForEndUser(author, caller, name, undefined);
  }
}

function ApiEndUser(): MethodDecorator {
  return ApiParam({
    name: 'end_user',
    type: String,
    description: "The end user's name as in requests, percent-encoded.",
    example: 'user-4711',
  });
}

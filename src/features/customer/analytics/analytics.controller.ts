import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { Customer, ApiFilters } from '../../../core/access/customer.decorator.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { AnalyticsService } from './analytics.service.js';
import { AnalyticsDto, AnalyticsQueryDto } from './analytics.dto.js';
import { Members } from '../../../core/access/roles.js';

@ApiTags('Customer')
@Customer()
@Members('money')
@Controller('v1/customer/analytics')
export class AnalyticsController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get()
  @ApiOperation({
    operationId: 'getAnalytics',
    summary: "Aggregate the tenant's requests",
    description: 'Counts, tokens and costs are exact and include every ended request.',
  })
  @ApiOkResponse({ type: AnalyticsDto })
  @ApiFilters()
  @ApiErrorResponse(503, 'The range needs archived requests and the archive is unavailable.')
  get(@CurrentCaller() caller: Caller, @Query() query: AnalyticsQueryDto): Promise<AnalyticsDto> {
    return this.analytics.get(caller, query);
  }
}

import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import { Customer, ApiFilters } from '../../core/access/customer.decorator.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { JobListDto } from './dto/job.dto.js';
import { JobsQueryDto } from './dto/jobs-query.dto.js';
import { JobsService } from './jobs.service.js';

@ApiTags('Customer')
@Customer()
@Controller('v1/customer/jobs')
export class CustomerJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Get()
  @ApiOperation({
    summary: "List the tenant's jobs",
    description: 'Newest first, of all modalities unless a filter says otherwise.',
  })
  @ApiOkResponse({ type: JobListDto })
  @ApiFilters()
  list(@CurrentCaller() caller: Caller, @Query() query: JobsQueryDto): Promise<JsonObject> {
    return this.jobs.list(caller, query);
  }
}

import { Controller, Delete, Get, HttpCode, Param, Post, Req, Res, Query } from '@nestjs/common';
import { ApiTags, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Authenticated, Inference } from '../../core/access/authenticated.decorator.js';
import { InTurn } from '../../core/access/management-limit.guard.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { callOf } from '../../core/answers/call.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ApiCancelJob, ApiReadJob, ApiSubmitJob } from './jobs.openapi.js';
import { JobsService } from './jobs.service.js';
import { Customer, ApiFilters } from '../../core/access/customer.decorator.js';
import { JobsQueryDto, JobListDto } from './jobs.dto.js';
import { Members } from '../../core/people/roles.js';

@ApiTags('Customer')
@Customer()
@Members('read')
@Controller('v1/customer/jobs')
export class CustomerJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listJobs',
    summary: "List the tenant's jobs",
    description: 'Newest first, of all modalities unless a filter says otherwise.',
  })
  @ApiOkResponse({ type: JobListDto })
  @ApiFilters()
  list(@CurrentCaller() caller: Caller, @Query() query: JobsQueryDto): Promise<JsonObject> {
    return this.jobs.list(caller, query);
  }
}

/** Another path to image jobs; jobs of other modalities are not there. */
@ApiTags('Jobs')
@Controller(['v1/images', 'api/v1/images'])
@Authenticated('routing', { isPolled: true })
export class ImageJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Get(':id')
  @ApiReadJob('getImageJob', 'an image job')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.get(caller, id, 'image');
  }

  @Delete(':id')
  @ApiCancelJob('cancelImageJob', 'an image job')
  cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.cancel(caller, id, 'image');
  }
}

/** Jobs of any modality. Submissions count against the rate limit of inference; reading and cancelling have limits of their own. */
@ApiTags('Jobs')
@Controller(['v1/jobs', 'api/v1/jobs'])
export class JobsController {
  constructor(private readonly jobs: JobsService) {}

  @Post()
  @HttpCode(202)
  @InTurn()
  @Inference()
  @ApiSubmitJob()
  create(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonObject> {
    return this.jobs.create(callOf(request, response));
  }

  @Get(':id')
  @Authenticated('routing', { isPolled: true })
  @ApiReadJob('getJob', 'a job')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.get(caller, id);
  }

  @Delete(':id')
  @Authenticated('routing')
  @ApiCancelJob('cancelJob', 'a job')
  cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.cancel(caller, id);
  }
}

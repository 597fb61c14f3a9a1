import {
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Req,
  Res,
  Query,
} from '@nestjs/common';
import { ApiTags, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { Authenticated, Inference } from '../../core/access/authenticated.decorator.js';
import { InTurn } from '../../core/access/management-limit.guard.js';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { callOf } from '../../core/answers/call.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import type { CursorPage } from '../../platform/http/cursor-page.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ApiCancelJob, ApiReadJob, ApiSubmitJob } from './jobs.openapi.js';
import { JobsService } from './jobs.service.js';
import { Customer, ApiChange, ApiFilters } from '../../core/access/customer.decorator.js';
import { GalleryJobDto, JobGalleryDto, JobGalleryQueryDto } from './job-gallery.dto.js';
import { JobsQueryDto, JobListDto } from './jobs.dto.js';
import { Members } from '../../core/access/roles.js';

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
    description: 'Newest first. All modalities unless filtered.',
  })
  @ApiOkResponse({ type: JobListDto })
  @ApiFilters()
  list(@CurrentCaller() caller: Caller, @Query() query: JobsQueryDto): Promise<JsonObject> {
    return this.jobs.list(caller, query);
  }

  @Get('gallery')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'listJobGallery',
    summary: "List the tenant's jobs with their files",
    description:
      'Newest first, with cursors. Reading a file counts as fetching it, so its charge stands.',
  })
  @ApiOkResponse({ type: JobGalleryDto })
  @ApiFilters()
  gallery(
    @CurrentCaller() caller: Caller,
    @Query() query: JobGalleryQueryDto,
  ): Promise<CursorPage<JsonObject>> {
    return this.jobs.gallery(caller, query);
  }

  @Get(':id')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getGalleryJob',
    summary: "Get one of the tenant's jobs with its files",
  })
  @ApiParam({ name: 'id', example: 'img_3f8c1d0b6a5e4f7a9c2d1e0f8b7a6c5d4e3f' })
  @ApiOkResponse({ type: GalleryJobDto })
  @ApiErrorResponse(404, 'The tenant has no such job.')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.getGalleryJob(caller, id);
  }

  @Delete(':id')
  @Members('develop')
  @ApiCancelJob('cancelCustomerJob', "one of the tenant's jobs", GalleryJobDto)
  @ApiChange()
  cancel(
    @CurrentCaller() caller: Caller,
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
  ): Promise<JsonObject> {
    return this.jobs.cancel(caller, id, { author });
  }
}

/** An alias path for image jobs only. */
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
    return this.jobs.cancel(caller, id, { modality: 'image' });
  }
}

/**
 * Jobs of any modality. Submissions share the inference rate limit; reads and cancellations have
 * their own.
 */
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

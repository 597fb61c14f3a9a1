import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ApiCancelJob, ApiReadJob } from './jobs.openapi.js';
import { JobsService } from './jobs.service.js';

/** Another path to video jobs; jobs of other modalities are not there. */
@ApiTags('Jobs')
@Controller(['v1/videos', 'api/v1/videos'])
@Authenticated('routing', { isPolled: true })
export class VideoJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Get(':id')
  @ApiReadJob('a video job')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.get(caller, id, 'video');
  }

  @Delete(':id')
  @ApiCancelJob('a video job')
  cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.cancel(caller, id, 'video');
  }
}

import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Authenticated } from '../../core/access/authenticated.decorator.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller } from '../../core/access/gateway-request.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { ApiCancelJob, ApiReadJob } from './jobs.openapi.js';
import { JobsService } from './jobs.service.js';

/** Another path to image jobs; jobs of other modalities are not there. */
@ApiTags('Jobs')
@Controller(['v1/images', 'api/v1/images'])
@Authenticated('routing', { isPolled: true })
export class ImageJobsController {
  constructor(private readonly jobs: JobsService) {}

  @Get(':id')
  @ApiReadJob('an image job')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.get(caller, id, 'image');
  }

  @Delete(':id')
  @ApiCancelJob('an image job')
  cancel(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.jobs.cancel(caller, id, 'image');
  }
}

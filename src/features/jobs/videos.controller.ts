import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { Authenticated, Inference } from '../../core/access/authenticated.decorator.js';
import { InTurn } from '../../core/access/management-limit.guard.js';
import type { Caller } from '../../core/access/caller.js';
import { CurrentCaller, type GatewayRequest } from '../../core/access/gateway-request.js';
import { callOf } from '../../core/answers/call.js';
import { ApiGenerationErrors } from '../../core/answers/generation.openapi.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ArtifactsService } from './artifacts/artifacts.service.js';
import { JobDto } from './jobs.dto.js';
import { jobSchema } from './jobs.parse.js';
import { VideoDto, VideoListDto, VideosQueryDto } from './videos.dto.js';
import { VideosService } from './videos.service.js';

const DELETED_VIDEO = {
  title: 'DeletedVideo',
  type: 'object',
  required: ['id', 'object', 'deleted'],
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['video.deleted'] },
    deleted: { type: 'boolean' },
  },
} as const;

/** Generators of clients know no type of media, so the first one is that of any bytes. */
const BYTES = { schema: { type: 'string', format: 'binary' } } as const;

const EITHER = {
  title: 'VideoOrJob',
  oneOf: [{ $ref: getSchemaPath(VideoDto) }, { $ref: getSchemaPath(JobDto) }],
};

/**
 * Video jobs, in the shape of the videos API for those that were made here, and in that of jobs for
 * those that were made by `POST /v1/jobs`. Jobs of other modalities are not there.
 */
@ApiTags('Jobs')
@ApiExtraModels(VideoDto, JobDto)
@Controller(['v1/videos', 'api/v1/videos'])
export class VideosController {
  constructor(
    private readonly videos: VideosService,
    private readonly artifacts: ArtifactsService,
  ) {}

  @Post()
  @HttpCode(200)
  @InTurn()
  @Inference()
  @ApiOperation({
    operationId: 'createVideo',
    summary: 'Make a video',
    description:
      'A job like those of `POST /v1/jobs`, in the shape that clients of the videos API read. The body may be a multipart form too.',
  })
  @ApiBody({
    schema: toOpenApiSchema(jobSchema),
    examples: {
      sandbox: {
        summary: 'A clip, made without any vendor',
        value: { model: 'sandbox/video', prompt: 'A lighthouse in the fog', seconds: 4 },
      },
    },
  })
  @ApiOkResponse({ type: VideoDto })
  @ApiGenerationErrors()
  create(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonObject> {
    return this.videos.create(callOf(request, response));
  }

  @Get()
  @Authenticated('routing', { isPolled: true })
  @ApiOperation({
    operationId: 'listVideos',
    summary: 'List the videos that were made by `POST /v1/videos`',
  })
  @ApiOkResponse({ type: VideoListDto })
  @ApiErrorResponse(400, 'A query parameter is not valid.')
  @ApiErrorResponse(404, 'There is no video with the id of `after`.')
  list(@CurrentCaller() caller: Caller, @Query() query: VideosQueryDto): Promise<JsonObject> {
    return this.videos.list(caller, query);
  }

  @Get(':id')
  @Authenticated('routing', { isPolled: true })
  @ApiOperation({
    operationId: 'getVideo',
    summary: 'Read a video job',
    description: 'Not counted against the rate limit.',
  })
  @ApiOkResponse({ schema: EITHER })
  @ApiErrorResponse(404, 'The tenant has no such job.')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.videos.get(caller, id);
  }

  @Get(':id/content')
  @Authenticated('routing', { isPolled: true })
  @ApiOperation({
    operationId: 'getVideoContent',
    summary: 'Read the video itself',
    description: 'Ranges are served.',
  })
  @ApiOkResponse({
    content: { 'application/octet-stream': BYTES, 'video/*': BYTES },
    description: 'The file, under its own type, such as `video/mp4`.',
  })
  @ApiErrorResponse(404, 'The tenant has no such job.')
  @ApiErrorResponse(409, 'The video is not ready, or has failed.')
  @ApiErrorResponse(410, 'The video has expired.')
  async content(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query('variant') variant: unknown,
    @Req() request: GatewayRequest,
    @Res() response: Response,
  ): Promise<void> {
    const file = await this.videos.fileOf(caller, id, variant);
    await this.artifacts.serve(file, request, response);
  }

  @Delete(':id')
  @Authenticated('routing', { isPolled: true })
  @ApiOperation({
    operationId: 'deleteVideo',
    summary: 'Delete a video, or cancel a video job',
    description:
      'One that was made by `POST /v1/videos` is stopped and removed; a job of `POST /v1/jobs` is cancelled. The credits of an open one are given back in full.',
  })
  @ApiOkResponse({
    schema: toOpenApiSchema({
      title: 'DeletedVideoOrJob',
      oneOf: [DELETED_VIDEO, { $ref: getSchemaPath(JobDto) }],
    }),
    description: 'Of a job of `POST /v1/jobs` the job, which is `cancelled` now.',
  })
  @ApiErrorResponse(404, 'The tenant has no such job.')
  @ApiErrorResponse(409, 'The job has ended already.')
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.videos.delete(caller, id);
  }
}

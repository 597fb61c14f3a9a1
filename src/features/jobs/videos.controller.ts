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

/** Client generators don't know media types, so the first type is plain binary. */
const BYTES = { schema: { type: 'string', format: 'binary' } } as const;

const EITHER = {
  title: 'VideoOrJob',
  oneOf: [{ $ref: getSchemaPath(VideoDto) }, { $ref: getSchemaPath(JobDto) }],
};

/**
 * Video jobs. Those created here have the videos API's shape; those of `POST /v1/jobs` have the
 * shape of jobs. Other modalities are not found.
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
    summary: 'Generate a video',
    description:
      'Creates a job, as `POST /v1/jobs` does, in the shape of the videos API. The body can also be a multipart form.',
  })
  @ApiBody({
    schema: toOpenApiSchema(jobSchema),
    examples: {
      sandbox: {
        summary: 'A clip from the sandbox, without a vendor',
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
    summary: 'List videos created by `POST /v1/videos`',
  })
  @ApiOkResponse({ type: VideoListDto })
  @ApiErrorResponse(400, 'A query parameter is invalid.')
  @ApiErrorResponse(404, 'No video has the id of `after`.')
  list(@CurrentCaller() caller: Caller, @Query() query: VideosQueryDto): Promise<JsonObject> {
    return this.videos.list(caller, query);
  }

  @Get(':id')
  @Authenticated('routing', { isPolled: true })
  @ApiOperation({
    operationId: 'getVideo',
    summary: 'Get a video job',
    description: 'Exempt from the inference rate limit.',
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
    summary: 'Download a video',
    description: 'Supports range requests.',
  })
  @ApiOkResponse({
    content: { 'application/octet-stream': BYTES, 'video/*': BYTES },
    description: 'The file with its own type, such as `video/mp4`.',
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
      'Stops and deletes a video of `POST /v1/videos`; cancels a job of `POST /v1/jobs`. Releases the credits of an open job in full.',
  })
  @ApiOkResponse({
    schema: toOpenApiSchema({
      title: 'DeletedVideoOrJob',
      oneOf: [DELETED_VIDEO, { $ref: getSchemaPath(JobDto) }],
    }),
    description: 'The cancelled job, for jobs of `POST /v1/jobs`.',
  })
  @ApiErrorResponse(404, 'The tenant has no such job.')
  @ApiErrorResponse(409, 'The job has ended already.')
  delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<JsonObject> {
    return this.videos.delete(caller, id);
  }
}

import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import {
  ApiFoundResponse,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { ArtifactsService } from './artifacts.service.js';

/** Generators of clients know no type of media, so the first one is that of any bytes. */
const CONTENT = Object.fromEntries(
  ['application/octet-stream', 'image/*', 'audio/*', 'video/*'].map((type) => [
    type,
    { schema: { type: 'string', format: 'binary' } },
  ]),
);

@ApiTags('Artifacts')
@Controller('v1/artifacts')
export class ArtifactsController {
  constructor(private readonly artifacts: ArtifactsService) {}

  /** Serves HEAD too. */
  @Get(':id')
  @ApiOperation({
    operationId: 'getArtifact',
    summary: 'Read what a job has made',
    description:
      'Its URL is part of the job, signed, made anew on each read of the job and good until its ' +
      '`expires_at`; it needs no key. Where artifacts lie in a bucket, the answer is a redirect.',
  })
  @ApiParam({ name: 'id', example: 'img_2f1c7a90b4' })
  @ApiQuery({ name: 'expires', description: 'Unix seconds; part of the signed URL.' })
  @ApiQuery({ name: 'signature', description: 'Part of the signed URL.' })
  @ApiHeader({ name: 'Range', required: false, example: 'bytes=0-1023' })
  @ApiOkResponse({ description: 'The file.', content: CONTENT })
  @ApiResponse({ status: 206, description: 'The part that `Range` asks for.', content: CONTENT })
  @ApiFoundResponse({ description: 'To a URL of the bucket that is good for 60 seconds.' })
  @ApiErrorResponse(404, 'There is no such artifact, or the URL is not one that was given out.')
  @ApiErrorResponse(410, 'The artifact has expired.')
  @ApiErrorResponse(416, 'The range begins behind the end of the artifact.')
  async read(
    @Param('id') id: string,
    @Query('expires') expires: unknown,
    @Query('signature') signature: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.artifacts.serveSigned(id, { expires, signature }, request, response);
  }
}

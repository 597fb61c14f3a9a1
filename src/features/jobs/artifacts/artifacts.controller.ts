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

/** Client generators don't know media types, so the first type is plain binary. */
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

  /** Also serves HEAD. */
  @Get(':id')
  @ApiOperation({
    operationId: 'getArtifact',
    summary: 'Download an artifact of a job',
    description:
      'The signed URL comes from the job, is generated on each read of the job and is valid until ' +
      '`expires_at`. It needs no key. When artifacts are stored in a bucket, this redirects to it.',
  })
  @ApiParam({ name: 'id', example: 'img_2f1c7a90b4' })
  @ApiQuery({ name: 'expires', description: 'Unix seconds; part of the signed URL.' })
  @ApiQuery({ name: 'signature', description: 'Part of the signed URL.' })
  @ApiHeader({ name: 'Range', required: false, example: 'bytes=0-1023' })
  @ApiOkResponse({ description: 'The file.', content: CONTENT })
  @ApiResponse({ status: 206, description: 'The requested range.', content: CONTENT })
  @ApiFoundResponse({ description: 'Redirect to a bucket URL that is valid for 60 seconds.' })
  @ApiErrorResponse(404, 'The artifact does not exist or the signature is invalid.')
  @ApiErrorResponse(410, 'The artifact has expired.')
  @ApiErrorResponse(416, 'The range starts after the end of the artifact.')
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

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { callOf } from '../../core/answers/call.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGenerationErrors, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { ImageGenerationDto } from './jobs.dto.js';
import { imageGenerationSchema } from './image-generation.parse.js';
import { ImageGenerationsService } from './image-generations.service.js';

@ApiTags('Inference')
@Controller(['v1/images/generations', 'api/v1/images/generations'])
@Inference()
export class ImageGenerationsController {
  constructor(private readonly images: ImageGenerationsService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'createImage',
    summary: 'Make pictures and wait for them',
    description: 'The same work as an image job, which is cancelled when its caller leaves.',
  })
  @ApiBody({
    schema: toOpenApiSchema(imageGenerationSchema),
    examples: {
      sandbox: {
        summary: 'A first picture, made without any vendor',
        value: { model: 'sandbox/image', prompt: 'A lighthouse in the fog' },
      },
    },
  })
  @ApiOkResponse({ type: ImageGenerationDto, headers: GENERATION_HEADERS })
  @ApiGenerationErrors()
  async create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    const send = await this.images.create(callOf(request, response));
    await send?.(response);
  }
}

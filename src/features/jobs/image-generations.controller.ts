import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { callOf } from '../../core/answers/call.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { toOpenApiSchema } from '../../platform/http/validate-body.js';
import { ApiGenerationErrors, GENERATION_HEADERS } from '../../core/answers/generation.openapi.js';
import { ImageGenerationDto } from './image-generation.dto.js';
import { imageGenerationSchema } from './image-generation.parse.js';
import { imageEditSchema } from './image-edit.parse.js';
import { ImageEditsService } from './image-edits.service.js';
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
    summary: 'Generate images and wait for them',
    description: 'Runs an image job and cancels it when the caller disconnects.',
  })
  @ApiBody({
    schema: toOpenApiSchema(imageGenerationSchema),
    examples: {
      sandbox: {
        summary: 'An image from the sandbox, without a vendor',
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

const picture = {
  type: 'string',
  format: 'binary',
  description: 'PNG, JPEG or WebP, at most 25 MB.',
};

const variationForm = {
  ...imageEditSchema,
  required: ['image'],
  properties: { image: picture, ...imageEditSchema.properties },
};

const editForm = {
  ...imageEditSchema,
  required: ['image', 'prompt'],
  properties: {
    image: { type: 'array', items: picture, maxItems: 16 },
    mask: picture,
    ...imageEditSchema.properties,
  },
};

/**
 * Image edits. On shared capacity only for models whose catalogue row accepts images; others need
 * a BYOK account.
 */
@ApiTags('Inference')
@Controller(['v1/images', 'api/v1/images'])
@Inference({ writesResponse: true })
export class ImageEditsController {
  constructor(private readonly edits: ImageEditsService) {}

  @Post('edits')
  @HttpCode(200)
  @ApiOperation({ operationId: 'editImage', summary: 'Edit images with a prompt' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: toOpenApiSchema(editForm) })
  @ApiOkResponse({ type: ImageGenerationDto, headers: GENERATION_HEADERS })
  @ApiGenerationErrors()
  edit(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.edits.create(call, 'edit'));
  }

  @Post('variations')
  @HttpCode(200)
  @ApiOperation({ operationId: 'createImageVariation', summary: 'Create variations of an image' })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: toOpenApiSchema(variationForm) })
  @ApiOkResponse({ type: ImageGenerationDto, headers: GENERATION_HEADERS })
  @ApiGenerationErrors()
  vary(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.edits.create(call, 'variation'));
  }
}

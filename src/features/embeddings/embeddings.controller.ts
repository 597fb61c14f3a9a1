import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { ApiCreateEmbeddings } from './embeddings.openapi.js';
import { EmbeddingsService } from './embeddings.service.js';

@ApiTags('Inference')
@Controller(['v1/embeddings', 'api/v1/embeddings'])
@Inference({ writesResponse: true })
export class EmbeddingsController {
  constructor(private readonly embeddings: EmbeddingsService) {}

  @Post()
  @HttpCode(200)
  @ApiCreateEmbeddings()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.embeddings.create(call));
  }
}

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { Inference } from '../../core/access/inference.decorator.js';
import { ApiCreateResponse } from './responses.openapi.js';
import { ResponsesService } from './responses.service.js';

@ApiTags('Inference')
@Controller(['v1/responses', 'api/v1/responses'])
@Inference({ writesResponse: true })
export class ResponsesController {
  constructor(private readonly responses: ResponsesService) {}

  @Post()
  @HttpCode(200)
  @ApiCreateResponse()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return this.responses.create(request, response);
  }
}

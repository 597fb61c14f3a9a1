import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
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
    return deliver(request, response, (call) => this.responses.create(call));
  }
}

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver, deliverFree } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { ApiCountTokens, ApiCreateMessage } from './messages.openapi.js';
import { MessagesService } from './messages.service.js';
import { MESSAGES_PATHS } from './messages.vendor.js';

@ApiTags('Inference')
@Controller(['v1', 'api/v1'].flatMap((base) => MESSAGES_PATHS.map((path) => `${base}/${path}`)))
@Inference({ acceptsXApiKey: true, writesResponse: true })
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @HttpCode(200)
  @ApiCreateMessage()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.messages.create(call));
  }

  @Post('count_tokens')
  @HttpCode(200)
  @ApiCountTokens()
  countTokens(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliverFree(request, response, (call) => this.messages.countTokens(call));
  }
}

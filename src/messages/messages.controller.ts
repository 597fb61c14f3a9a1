import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../access/caller.js';
import { CurrentCaller } from '../access/current-caller.decorator.js';
import { Inference } from '../access/inference.decorator.js';
import type { IdentifiedRequest } from '../common/http/request-id.middleware.js';
import { ApiCountTokens, ApiCreateMessage } from './messages.openapi.js';
import { MessagesService } from './messages.service.js';
import { MESSAGES_PATHS } from './messages.vendor.js';

@ApiTags('Inference')
@Controller(['v1', 'api/v1'].flatMap((base) => MESSAGES_PATHS.map((path) => `${base}/${path}`)))
@Inference({ acceptsXApiKey: true })
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post()
  @HttpCode(200)
  @ApiCreateMessage()
  create(
    @CurrentCaller() caller: Caller,
    @Req() request: IdentifiedRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.messages.create(caller, request, response);
  }

  @Post('count_tokens')
  @HttpCode(200)
  @ApiCountTokens()
  countTokens(
    @CurrentCaller() caller: Caller,
    @Req() request: IdentifiedRequest,
    @Res() response: Response,
  ): Promise<void> {
    return this.messages.countTokens(caller, request, response);
  }
}

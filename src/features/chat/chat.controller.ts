import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { ApiChatCompletion, ApiCompletion } from './chat.openapi.js';
import { ChatService } from './chat.service.js';

@ApiTags('Inference')
@Controller(['v1/chat/completions', 'api/v1/chat/completions'])
@Inference({ writesResponse: true })
export class ChatController {
  constructor(private readonly chat: ChatService) {}

  @Post()
  @HttpCode(200)
  @ApiChatCompletion()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.chat.complete(call));
  }
}

/** The legacy completions API, for clients that still use it. */
@ApiTags('Inference')
@Controller(['v1/completions', 'api/v1/completions'])
@Inference({ writesResponse: true })
export class CompletionsController {
  constructor(private readonly chat: ChatService) {}

  @Post()
  @HttpCode(200)
  @ApiCompletion()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.chat.completeText(call));
  }
}

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { ApiSpeech } from './speech.openapi.js';
import { SpeechService } from './speech.service.js';

@ApiTags('Inference')
@Controller(['v1/audio/speech', 'api/v1/audio/speech'])
@Inference({ writesResponse: true })
export class SpeechController {
  constructor(private readonly speech: SpeechService) {}

  @Post()
  @HttpCode(200)
  @ApiSpeech()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.speech.create(call));
  }
}

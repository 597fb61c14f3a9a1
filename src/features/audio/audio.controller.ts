import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { deliver } from '../../core/answers/deliver.js';
import { Inference } from '../../core/access/authenticated.decorator.js';
import { ApiTranscription, ApiTranslation, ApiSpeech } from './audio.openapi.js';
import { TranscriptionsService } from './transcriptions.service.js';
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

@ApiTags('Inference')
@Controller(['v1/audio/transcriptions', 'api/v1/audio/transcriptions'])
@Inference({ writesResponse: true })
export class TranscriptionsController {
  constructor(private readonly transcriptions: TranscriptionsService) {}

  @Post()
  @HttpCode(200)
  @ApiTranscription()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.transcriptions.create(call, 'transcribe'));
  }
}

/** Translates speech into English text. */
@ApiTags('Inference')
@Controller(['v1/audio/translations', 'api/v1/audio/translations'])
@Inference({ writesResponse: true })
export class TranslationsController {
  constructor(private readonly transcriptions: TranscriptionsService) {}

  @Post()
  @HttpCode(200)
  @ApiTranslation()
  create(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    return deliver(request, response, (call) => this.transcriptions.create(call, 'translate'));
  }
}

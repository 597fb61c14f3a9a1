import { Injectable } from '@nestjs/common';
import type { AudioPiece } from '../../canonical/work-request.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import type { Reply } from '../../core/answers/deliver.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { AudioSink, EventSink, deliverSpeech } from './deliver-speech.js';
import { parseSpeech } from './speech.parse.js';

/** Text to speech, whose bytes are passed on as they come. */
@Injectable()
export class SpeechService {
  constructor(private readonly answers: AnswersService) {}

  /** @throws GatewayError when it is refused */
  async create(call: Call): Promise<Reply<WorkEvent<AudioPiece>>> {
    const request = parseSpeech(await readJsonBody(call.body));
    const answer = await this.answers.perform(call, {
      endpoint: 'audio.speech',
      request,
      input: { texts: [request.text, request.instructions ?? ''], param: 'input' },
      start: (upstream, work) => upstream.speak?.(work),
    });
    const Sink = request.body.value.stream_format === 'sse' ? EventSink : AudioSink;
    return {
      answer,
      send: (response, events) => deliverSpeech(response, events, new Sink(response)),
    };
  }
}

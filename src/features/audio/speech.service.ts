import { Injectable } from '@nestjs/common';
import type { AudioPiece } from '../../canonical/work-request.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import type { Reply } from '../../core/answers/deliver.js';
import { readJsonBody } from '../../platform/http/read-json-body.js';
import { failureToReport } from './deliver-transcript.js';
import { parseSpeech } from './speech.parse.js';
import type { ServerResponse } from 'node:http';
import type { SettledEvent, WorkEvent } from '../../canonical/canonical-event.js';
import { errorBody } from '../../platform/errors/error-response.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import { drained } from '../../platform/http/drained.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { SseWriter, sseOf } from '../../platform/http/sse-writer.js';
import { setRouteHeaders } from '../../core/answers/answer-headers.js';

/** Writes raw bytes. Audio cannot carry an error, so a failure cuts the connection. */
class AudioSink implements SpeechSink {
  constructor(private readonly response: ServerResponse) {}

  async write({ contentType, bytes }: AudioPiece): Promise<void> {
    const { response } = this;
    if (response.destroyed) throw new CallerGoneError();
    if (!response.headersSent) response.writeHead(200, { 'content-type': contentType });
    if (!response.write(bytes)) await drained(response);
  }

  async end(): Promise<void> {
    this.response.end();
  }

  async fail(): Promise<void> {
    this.response.destroy();
  }

  close(): void {}
}

/** Writes the same bytes as server-sent events, which can carry usage and an error. */
class EventSink implements SpeechSink {
  private readonly writer: SseWriter;

  constructor(response: ServerResponse) {
    this.writer = new SseWriter(response);
  }

  async write({ bytes }: AudioPiece): Promise<void> {
    await this.send({ type: 'speech.audio.delta', audio: bytes.toString('base64') });
  }

  async end({ usage }: SettledEvent): Promise<void> {
    const { inputTokens, outputTokens } = usage;
    await this.send({
      type: 'speech.audio.done',
      usage: {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    });
  }

  async fail(error: GatewayError): Promise<void> {
    this.writer.cut(sseOf({ type: 'error', ...errorBody(error) }));
  }

  close(): void {
    this.writer.end();
  }

  private async send(event: object): Promise<void> {
    await this.writer.write(sseOf(event));
  }
}

/** Text to speech with streaming audio. Usage is counted in `parseSpeech`. */
@Injectable()
export class SpeechService {
  constructor(private readonly answers: AnswersService) {}

  /** @throws GatewayError when the request is rejected */
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

/** Writes audio in one output format. */
interface SpeechSink {
  /** @throws CallerGoneError when the caller disconnects or stops reading */
  write(piece: AudioPiece): Promise<void>;
  /** Called after the charge is committed. */
  end(settled: SettledEvent): Promise<void>;
  /** Called when audio is interrupted. */
  fail(error: GatewayError): Promise<void>;
  /** Closes what is still open. Always called. */
  close(): void;
}

/**
 * Streams audio at the caller's pace. Writes nothing before the first chunk, so that an earlier
 * failure is an ordinary error response.
 * @throws GatewayError when nothing has been sent
 */
async function deliverSpeech(
  response: ServerResponse,
  events: AsyncIterable<WorkEvent<AudioPiece>>,
  sink: SpeechSink,
): Promise<void> {
  try {
    for await (const event of events) {
      if (event.type === 'route') setRouteHeaders(response, event);
      else if (event.type === 'output') await sink.write(event.output);
      else if (event.type === 'settled') await sink.end(event);
    }
  } catch (error) {
    if (response.destroyed) return;
    if (!response.headersSent) throw error;
    const failure = failureToReport(response, error);
    if (failure) await sink.fail(failure);
  } finally {
    sink.close();
  }
}

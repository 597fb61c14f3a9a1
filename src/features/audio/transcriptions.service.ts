import { rm } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { collectWork } from '../../canonical/collect.js';
import type { Transcript, TranscriptionRequest } from '../../canonical/work-request.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { TypedBody, asWhole, type Reply, type Send } from '../../core/answers/deliver.js';
import { receiveUpload } from '../../platform/http/receive-form.js';
import { transcriptTexts } from '../../vendors/dialects/audio/transcript.js';
import { identifyAudio } from './identify-audio.js';
import { deliverTranscript } from './deliver-transcript.js';
import {
  TRANSCRIPTION_FORM,
  assertTranscription,
  assertTranslation,
  makeTranscription,
} from './transcription.parse.js';
import { UploadFolder } from '../../platform/http/upload-folder.js';

type TranscriptEvents = AsyncIterable<WorkEvent<Transcript>>;

/**
 * Speech to text. The upload is stored in a temporary file for the request, so that its length is
 * known before a vendor is called and it can be sent to a second vendor.
 */
@Injectable()
export class TranscriptionsService {
  constructor(
    private readonly answers: AnswersService,
    private readonly uploads: UploadFolder,
  ) {}

  /**
   * Answers a call. Removes the file before the answer ends.
   * @throws GatewayError when the request is rejected
   */
  async create(
    call: Call,
    task: TranscriptionRequest['task'],
  ): Promise<Reply<WorkEvent<Transcript>>> {
    const path = await this.uploads.newPath();
    const removeUpload = (): Promise<void> => rm(path, { force: true });
    try {
      const place = { field: 'file', path, room: this.uploads.lease(call.body) };
      const { fields, file } = await receiveUpload(call.body, TRANSCRIPTION_FORM, place);
      if (task === 'translate') assertTranslation(fields);
      else assertTranscription(fields);
      const request = makeTranscription(fields, await identifyAudio(file), task);
      const answer = await this.answers.perform(call, {
        endpoint: task === 'translate' ? 'audio.translations' : 'audio.transcriptions',
        request,
        input: { texts: request.prompt === undefined ? [] : [request.prompt], param: 'prompt' },
        output: {
          textsOf: (transcript: Transcript) => transcriptTexts(transcript, request.format),
          param: 'file',
        },
        start: (upstream, work) => upstream.transcribe?.(work),
      });
      return { answer, send: sendOf(request, removeUpload) };
    } catch (error) {
      await removeUpload();
      throw error;
    }
  }
}

function sendOf(
  { stream }: TranscriptionRequest,
  removeUpload: () => Promise<void>,
): Send<WorkEvent<Transcript>> {
  if (stream) {
    return (response, events) => deliverTranscript(response, followedBy(events, removeUpload));
  }
  return asWhole(
    (events: TranscriptEvents) => collectWork(followedBy(events, removeUpload)),
    ({ outputs: [{ contentType, bytes }] }) => new TypedBody(contentType, bytes),
  );
}

/** Yields the events, then runs a cleanup, however they end. */
async function* followedBy<Event>(
  events: AsyncIterable<Event>,
  work: () => Promise<void>,
): AsyncGenerator<Event> {
  try {
    yield* events;
  } finally {
    await work();
  }
}

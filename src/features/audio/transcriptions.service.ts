import { rm } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { collectWork } from '../../canonical/collect.js';
import type { Transcript } from '../../canonical/work-request.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { TypedBody, asWhole, type Reply } from '../../core/answers/deliver.js';
import { transcriptTexts } from '../../vendors/dialects/audio/transcript.js';
import { identifyAudio } from './identify-audio.js';
import { receiveForm } from './receive-form.js';
import { assertTranscription, makeTranscription } from './transcription.parse.js';
import { UploadFolder } from './upload-folder.js';

/**
 * Speech to text. The upload lies in a file until its request is over, so that its length is known
 * before a vendor is called, and a second vendor can be sent it.
 */
@Injectable()
export class TranscriptionsService {
  constructor(
    private readonly answers: AnswersService,
    private readonly uploads: UploadFolder,
  ) {}

  /** Answers one call. The file is gone before the answer leaves. @throws GatewayError when it is refused */
  async create(call: Call): Promise<Reply<WorkEvent<Transcript>>> {
    const path = await this.uploads.newPath();
    const removeUpload = (): Promise<void> => rm(path, { force: true });
    try {
      const { fields, file } = await receiveForm(call.body, path);
      assertTranscription(fields);
      const request = makeTranscription(fields, await identifyAudio(file));
      const answer = await this.answers.perform(call, {
        endpoint: 'audio.transcriptions',
        request,
        input: { texts: request.prompt === undefined ? [] : [request.prompt], param: 'prompt' },
        output: {
          textsOf: (transcript: Transcript) => transcriptTexts(transcript, request.format),
          param: 'file',
        },
        start: (upstream, work) => upstream.transcribe?.(work),
      });
      const send = asWhole(
        (events: AsyncIterable<WorkEvent<Transcript>>) => collectWork(events).finally(removeUpload),
        ({ outputs: [{ contentType, bytes }] }) => new TypedBody(contentType, bytes),
      );
      return { answer, send };
    } catch (error) {
      await removeUpload();
      throw error;
    }
  }
}

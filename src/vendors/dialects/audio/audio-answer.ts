import type { AudioPiece, SpeechRequest } from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readFailedAnswer, type ClassifyError } from '../read-failed-answer.js';
import { AudioLengthMeter } from './audio-length-meter.js';
import { speechContentType } from './speech-formats.js';

/** What no vendor labels audio as, though a proxy's page of regrets may well come so. */
const NO_AUDIO = /^(?:application\/(?:json|xml)|text\/)/i;

/**
 * The events of a vendor's answer that is the audio itself.
 *
 * @param isMeasured whether the model is billed by the length of what it speaks
 * @throws UpstreamError for a failed answer, one that is no audio, and one that breaks off
 */
export async function* readAudioAnswer(
  response: UpstreamResponse,
  { format, estimate }: SpeechRequest,
  isMeasured: boolean,
  classifyError: ClassifyError = classifyChatError,
): AsyncGenerator<WorkEvent<AudioPiece>> {
  if (response.status !== 200) throw await readFailedAnswer(response, classifyError);
  if (NO_AUDIO.test(response.headers['content-type'] ?? '')) {
    response.cancel();
    throw new UpstreamError({ failure: 'unreadable', message: 'an answer that is no audio' });
  }
  const contentType = speechContentType(format);
  const meter = isMeasured ? new AudioLengthMeter(format) : undefined;
  let isEmpty = true;
  const count = async function* (): AsyncGenerator<WorkEvent<AudioPiece>> {
    const audioMs = await meter?.read();
    if (audioMs === undefined) return;
    yield { type: 'usage', usage: { ...estimate, audioMs }, source: 'estimated' };
  };
  try {
    for await (const bytes of response) {
      if (bytes.length === 0) continue;
      isEmpty = false;
      meter?.push(bytes);
      yield { type: 'output', output: { contentType, bytes } };
    }
  } catch (error) {
    // What was spoken for somebody who left, or whom we cut, is paid for.
    const isOurs = error instanceof UpstreamError ? error.isRequestOver : !isEmpty;
    if (isOurs) yield* count();
    throw error;
  }
  if (isEmpty) throw new UpstreamError({ failure: 'unreadable', message: 'an empty answer' });
  yield* count();
}

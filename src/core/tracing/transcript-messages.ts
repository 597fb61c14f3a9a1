import type { Transcript, TranscriptionRequest } from '../../canonical/transcription-request.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { transcriptTexts } from '../../vendors/dialects/audio/transcript.js';
import type { TextBudget, TraceMessage } from './trace-message.js';

/** Whether what comes of a request is a `Transcript`. */
export function isTranscription(request: RoutableRequest): request is TranscriptionRequest {
  return !isTextRequest(request) && request.kind === 'transcription';
}

/**
 * What was heard in a recording, as one message, without the marks of subtitles.
 *
 * @param output the transcript; none when the request came to nothing
 */
export function transcriptMessages(
  { format }: TranscriptionRequest,
  output: unknown,
  budget: TextBudget,
): TraceMessage[] {
  if (output === undefined) return [];
  const content = budget.take(textOf(output as Transcript, format));
  return [{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' }];
}

function textOf(transcript: Transcript, format: string): string {
  try {
    return transcriptTexts(transcript, format).join('\n').trim();
  } catch {
    // The vendor's JSON is none; its caller has it as it is.
    return '';
  }
}

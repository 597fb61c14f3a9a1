import type { Transcript } from '../../../canonical/work-request.js';
import { isJsonObject } from '../../../platform/http/json-body.js';

/** Lines of subtitles that nobody says. */
const CUE_MARK = /^(?:WEBVTT.*|\d+|.*-->.*)$/;

/**
 * What is said in a transcript, whatever its format. Subtitles are one text, so that what is said
 * over several of them is found.
 */
export function transcriptTexts({ contentType, bytes }: Transcript, format: string): string[] {
  const spelled = bytes.toString('utf8');
  if (contentType.startsWith('application/json')) return jsonTexts(spelled);
  if (format !== 'srt' && format !== 'vtt') return [spelled];
  const lines = spelled.split(/\r?\n/).filter((line) => line !== '' && !CUE_MARK.test(line));
  return [lines.join(' ')];
}

function jsonTexts(spelled: string): string[] {
  const transcript: unknown = JSON.parse(spelled);
  if (!isJsonObject(transcript) || typeof transcript.text !== 'string') return [spelled];
  const { text, segments } = transcript;
  const others = (Array.isArray(segments) ? segments : [])
    .map((segment: unknown) => (isJsonObject(segment) ? segment.text : undefined))
    .filter((said) => typeof said === 'string')
    // Segments mostly repeat the whole; what they add counts as well.
    .filter((said) => !text.includes(said.trim()));
  return [text, ...others];
}

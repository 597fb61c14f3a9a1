import type { Transcript, TranscriptionRequest } from '../../../canonical/work-request.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { parseChatObject } from '../chat/parse-chat-object.js';
import { readTokenCount } from '../read-token-count.js';
import { renderTranscript, type TranscriptSegment } from './render-transcript.js';
import { secondsToMs } from './seconds-to-ms.js';

export interface ReadTranscript {
  transcript: Transcript;
  /** The vendor's own figure; undefined where it gave none. */
  usage: Usage | undefined;
}

/**
 * A vendor's transcript, as it is where the caller asked for the same format, else spelled anew.
 *
 * @param asked the format that the vendor was asked for
 * @throws UpstreamError `unreadable` for an answer that is none
 */
export function readTranscript(
  bytes: Buffer,
  asked: string,
  { format }: TranscriptionRequest,
): ReadTranscript {
  if (asked !== 'json' && asked !== 'verbose_json') {
    assertSubtitles(bytes.toString('utf8'), asked);
    return {
      transcript: { contentType: 'text/plain; charset=utf-8', bytes },
      usage: undefined,
    };
  }
  const answer = parseChatObject(bytes.toString('utf8'), 'a transcript');
  const { text } = answer;
  if (typeof text !== 'string') {
    throw new UpstreamError({ failure: 'unreadable', message: 'a transcript without its text' });
  }
  const usage = readUsage(answer);
  if (asked === format) {
    return { transcript: { contentType: 'application/json; charset=utf-8', bytes }, usage };
  }
  const transcript = renderTranscript(
    {
      text,
      language: typeof answer.language === 'string' ? answer.language : '',
      durationSeconds: readSeconds(answer.duration) ?? 0,
      segments: readSegments(answer.segments),
    },
    format,
  );
  return { transcript, usage };
}

/**
 * A failure or a proxy's page may come with status 200 and any type. Subtitles are told by what every
 * file of them has; only of SRT, silence leaves nothing at all.
 */
function assertSubtitles(text: string, asked: string): void {
  const content = text.replace(/^\uFEFF/, '').trim();
  const isFile = asked === 'vtt' ? content.includes('WEBVTT') : content.includes('-->');
  if (isFile || (asked !== 'vtt' && content === '')) return;
  throw new UpstreamError({ failure: 'unreadable', message: 'a transcript that is no subtitles' });
}

/** Only well-formed segments count; text stays a vendor's own. */
export function readSegments(segments: unknown): TranscriptSegment[] {
  if (!Array.isArray(segments)) return [];
  return segments.filter(isJsonObject).flatMap(({ start, end, text }) => {
    const from = readSeconds(start);
    const to = readSeconds(end);
    if (from === undefined || to === undefined || typeof text !== 'string') return [];
    return [{ start: from, end: to, text }];
  });
}

/** A number of seconds, which some servers spell as a string. */
export function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0
    ? seconds
    : undefined;
}

/** Seconds or tokens, whichever the model is billed by. */
function readUsage({ usage, duration }: JsonObject): Usage | undefined {
  const { type, seconds, input_tokens, output_tokens } = isJsonObject(usage) ? usage : {};
  const inputTokens = readTokenCount(input_tokens);
  const outputTokens = readTokenCount(output_tokens);
  if (type === 'tokens' && inputTokens !== undefined && outputTokens !== undefined) {
    return { ...NO_USAGE, inputTokens, outputTokens };
  }
  const length = readSeconds(seconds) ?? readSeconds(duration);
  return length === undefined ? undefined : { ...NO_USAGE, audioMs: secondsToMs(length) };
}

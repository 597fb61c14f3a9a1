import type { Transcript, TranscriptionRequest } from '../../../canonical/work-request.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable, unsupported } from '../../upstream-error.js';
import { parseAnswerObject, readTokenCount, objectOf, objectsOf } from '../answer-json.js';
import type { TimedWord, TranscriptSegment } from './timed-words.js';

/** A week; no recording within the upload limit is longer. */
const MAX_MS = 7 * 86_400_000;

/** Characters of the whole text that two consecutive segments may leave out. */
const MAX_GAP = 1_000;

const PLAIN_TEXT = 'text/plain; charset=utf-8';

const JSON_TEXT = 'application/json; charset=utf-8';

/** Transcript formats that are JSON. */
export const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'verbose_json', 'diarized_json']);

/** Size limit of a vendor's transcript; timed words need the most. */
export const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;

interface ReadTranscript {
  transcript: Transcript;
  /** The vendor's own figure; undefined when there is none. */
  usage: Usage | undefined;
}

/**
 * Reads a vendor's transcript: unchanged if the caller requested the same format, else converted.
 *
 * @param vendorFormat the format requested from the vendor
 * @throws UpstreamError `unreadable` for an invalid answer
 */
export function readTranscript(
  bytes: Buffer,
  vendorFormat: string,
  { format }: TranscriptionRequest,
): ReadTranscript {
  if (!JSON_FORMATS.has(vendorFormat)) {
    assertSubtitles(bytes.toString('utf8'), vendorFormat);
    return {
      transcript: { contentType: 'text/plain; charset=utf-8', bytes },
      usage: undefined,
    };
  }
  const answer = parseAnswerObject(bytes.toString('utf8'), 'a transcript');
  const { text } = answer;
  if (typeof text !== 'string') {
    throw unreadable('a transcript without its text');
  }
  const usage = readTranscriptUsage(answer);
  if (vendorFormat === format) {
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
 * Checks that a text is subtitles. A failure or a proxy's page may come with status 200 and any type, so
 * required syntax decides. Silence in SRT is an empty file.
 */
function assertSubtitles(text: string, vendorFormat: string): void {
  const content = text.replace(/^\uFEFF/, '').trim();
  const isFile = vendorFormat === 'vtt' ? content.includes('WEBVTT') : content.includes('-->');
  if (isFile || (vendorFormat !== 'vtt' && content === '')) return;
  throw unreadable('a transcript without subtitles');
}

/** Reads the well-formed segments; texts stay unchanged. */
export function readSegments(segments: unknown): TranscriptSegment[] {
  if (!Array.isArray(segments)) return [];
  return segments.filter(isJsonObject).flatMap(({ start, end, text }) => {
    const from = readSeconds(start);
    const to = readSeconds(end);
    if (from === undefined || to === undefined || typeof text !== 'string') return [];
    return [{ start: from, end: to, text }];
  });
}

/** Reads a number of seconds, which some servers send as a string. */
export function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0
    ? seconds
    : undefined;
}

/** Reads seconds or tokens, whichever the model is billed by. */
export function readTranscriptUsage({ usage, duration }: JsonObject): Usage | undefined {
  const { type, seconds, input_tokens, output_tokens } = objectOf(usage);
  const inputTokens = readTokenCount(input_tokens);
  const outputTokens = readTokenCount(output_tokens);
  if (type === 'tokens' && inputTokens !== undefined && outputTokens !== undefined) {
    return { ...NO_USAGE, inputTokens, outputTokens };
  }
  const length = readSeconds(seconds) ?? readSeconds(duration);
  return length === undefined ? undefined : { ...NO_USAGE, audioMs: secondsToMs(length) };
}

/** A transcript before conversion to the caller's format. */
export interface TranscriptParts {
  /** Defaults to `transcribe`. */
  task?: TranscriptionRequest['task'];
  text: string;
  /** The vendor's name for it; empty when unknown. */
  language: string;
  durationSeconds: number;
  segments: readonly TranscriptSegment[];
  /** Set when the caller requested word timestamps and the vendor has them. */
  words?: readonly TimedWord[] | undefined;
  /** True when the segments identify speakers. */
  identifiesSpeakers?: boolean;
}

/**
 * Formats a transcript as `json`, `text`, `srt`, `verbose_json`, `diarized_json` or `vtt`.
 *
 * @throws UpstreamError `unsupported` for `diarized_json` when speakers are unknown
 */
export function renderTranscript(parts: TranscriptParts, format: string): Transcript {
  if (format === 'diarized_json' && !parts.identifiesSpeakers) {
    throw unsupported('response_format', 'This model does not identify speakers.');
  }
  return {
    contentType: JSON_FORMATS.has(format) ? JSON_TEXT : PLAIN_TEXT,
    bytes: Buffer.from(render(parts, format)),
  };
}

function render(parts: TranscriptParts, format: string): string {
  const { text, language, durationSeconds, words } = parts;
  switch (format) {
    case 'text':
      return `${text}\n`;
    case 'srt':
      return cuesOf(parts)
        .map((cue, index) => `${index + 1}\n${renderCue(cue, ',')}\n\n`)
        .join('');
    case 'vtt':
      return `WEBVTT\n\n${cuesOf(parts)
        .map((cue) => `${renderCue(cue, '.')}\n\n`)
        .join('')}`;
    case 'verbose_json':
      return JSON.stringify({
        task: parts.task ?? 'transcribe',
        language,
        duration: durationSeconds,
        text,
        ...(words && {
          words: words.map(({ text: word, start, end }) => ({ word: word.trim(), start, end })),
        }),
        segments: cuesOf(parts).map((segment, id) => ({ id, ...segment })),
        usage: usageOf(durationSeconds),
      });
    case 'diarized_json':
      return JSON.stringify({
        task: parts.task ?? 'transcribe',
        duration: durationSeconds,
        text,
        segments: parts.segments.map((segment, index) => ({
          type: 'transcript.text.segment',
          id: `seg_${index}`,
          ...segment,
        })),
        usage: usageOf(durationSeconds),
      });
    default:
      return JSON.stringify({ text, usage: usageOf(durationSeconds) });
  }
}

function usageOf(seconds: number): object {
  return { type: 'duration', seconds };
}

/** Returns the cues; without segments, one for the whole text. */
function cuesOf({ segments, text, durationSeconds }: TranscriptParts): TranscriptSegment[] {
  if (segments.length === 0) return text === '' ? [] : [{ start: 0, end: durationSeconds, text }];
  return segments.map(({ start, end, text: words }) => ({ start, end, text: words }));
}

function renderCue({ start, end, text }: TranscriptSegment, mark: string): string {
  // An empty line would end the cue, and an arrow would start another one.
  const words = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll('-->', '->');
  return `${formatTime(start, mark)} --> ${formatTime(end, mark)}\n${words}`;
}

function formatTime(seconds: number, mark: string): string {
  const totalMs = Math.max(0, Math.round(seconds * 1000));
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  const hours = Math.floor(totalMs / 3_600_000);
  const minutes = Math.floor(totalMs / 60_000) % 60;
  const wholeSeconds = Math.floor(totalMs / 1000) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(wholeSeconds)}${mark}${pad(totalMs % 1000, 3)}`;
}

/**
 * Extracts the spoken texts of a transcript in any format. Subtitles become one text, so that phrases
 * across cues are found.
 */
export function transcriptTexts(
  { contentType, bytes, isLast }: Transcript,
  format: string,
): string[] {
  const spelled = bytes.toString('utf8');
  // The last event of a stream repeats the text of the others.
  if (isLast !== undefined) return isLast ? jsonTexts(spelled.replace(/^data: /, '')) : [];
  if (contentType.startsWith('application/json')) return jsonTexts(spelled);
  if (format !== 'srt' && format !== 'vtt') return [spelled];
  const lines = spelled.split(/\r?\n/).filter((line) => line !== '' && !isCueMark(line));
  return [lines.join(' ')];
}

/** Returns whether a line of subtitles is markup rather than speech. */
function isCueMark(line: string): boolean {
  return line.startsWith('WEBVTT') || line.includes('-->') || /^\d+$/.test(line);
}

function jsonTexts(spelled: string): string[] {
  const transcript: unknown = JSON.parse(spelled);
  if (!isJsonObject(transcript) || typeof transcript.text !== 'string') return [spelled];
  const { text, segments } = transcript;
  return [text, ...addedBySegments(text, segments)];
}

/**
 * Returns texts of segments that the whole text lacks. Segments mostly repeat it in order, so each is
 * searched for only after the previous one: half a million full searches would take minutes.
 */
function addedBySegments(text: string, segments: unknown): string[] {
  const added: string[] = [];
  let end = 0;
  for (const { text: said } of objectsOf(segments)) {
    if (typeof said !== 'string') continue;
    const words = said.trim();
    const near = text.slice(end, end + words.length + MAX_GAP);
    const start = near.indexOf(words);
    if (start === -1) added.push(said);
    else end += start + words.length;
  }
  return added;
}

/** Converts to whole milliseconds, rounding up but ignoring binary fraction errors. */
export function secondsToMs(seconds: number): number {
  return Math.min(Math.ceil(Number((seconds * 1000).toFixed(3))), MAX_MS);
}

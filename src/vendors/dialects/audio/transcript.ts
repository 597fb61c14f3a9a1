import type { Transcript, TranscriptionRequest } from '../../../canonical/work-request.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable, unsupported } from '../../upstream-error.js';
import { parseAnswerObject, readTokenCount, objectOf, objectsOf } from '../answer-json.js';
import type { TimedWord, TranscriptSegment } from './timed-words.js';

/** A week; no recording that fits into an upload is longer. */
const MAX_MS = 7 * 86_400_000;

/** Characters of a whole text that its segments may leave out between two of them. */
const MAX_GAP = 1_000;

const PLAIN_TEXT = 'text/plain; charset=utf-8';

const JSON_TEXT = 'application/json; charset=utf-8';

/** Of a transcript, the formats that are JSON. */
export const JSON_FORMATS: ReadonlySet<string> = new Set(['json', 'verbose_json', 'diarized_json']);

/** What a vendor may send for one: words with their times take the most. */
export const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;

interface ReadTranscript {
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
  if (!JSON_FORMATS.has(asked)) {
    assertSubtitles(bytes.toString('utf8'), asked);
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
  throw unreadable('a transcript that is no subtitles');
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

/** A transcript before it is spelled in the format that the caller asked for. */
export interface TranscriptParts {
  /** `transcribe` unless told. */
  task?: TranscriptionRequest['task'];
  text: string;
  /** As the vendor calls it; empty where nobody said. */
  language: string;
  durationSeconds: number;
  segments: readonly TranscriptSegment[];
  /** Where the caller asked for times of words, and the vendor has them. */
  words?: readonly TimedWord[] | undefined;
  /** Whether the segments say who speaks. */
  tellsSpeakers?: boolean;
}

/**
 * Spells a transcript as `json`, `text`, `srt`, `verbose_json`, `diarized_json` or `vtt`.
 *
 * @throws UpstreamError `unsupported` for `diarized_json` where nobody knows who speaks
 */
export function renderTranscript(parts: TranscriptParts, format: string): Transcript {
  if (format === 'diarized_json' && !parts.tellsSpeakers) {
    throw unsupported('response_format', 'This model does not tell speakers apart.');
  }
  return {
    contentType: JSON_FORMATS.has(format) ? JSON_TEXT : PLAIN_TEXT,
    bytes: Buffer.from(spell(parts, format)),
  };
}

function spell(parts: TranscriptParts, format: string): string {
  const { text, language, durationSeconds, words } = parts;
  switch (format) {
    case 'text':
      return `${text}\n`;
    case 'srt':
      return cuesOf(parts)
        .map((cue, index) => `${index + 1}\n${spellCue(cue, ',')}\n\n`)
        .join('');
    case 'vtt':
      return `WEBVTT\n\n${cuesOf(parts)
        .map((cue) => `${spellCue(cue, '.')}\n\n`)
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

/** A vendor that gave no segments said all of it at once. */
function cuesOf({ segments, text, durationSeconds }: TranscriptParts): TranscriptSegment[] {
  if (segments.length === 0) return text === '' ? [] : [{ start: 0, end: durationSeconds, text }];
  return segments.map(({ start, end, text: words }) => ({ start, end, text: words }));
}

function spellCue({ start, end, text }: TranscriptSegment, mark: string): string {
  // An empty line would end the cue, and an arrow would begin another one.
  const words = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll('-->', '->');
  return `${spellTime(start, mark)} --> ${spellTime(end, mark)}\n${words}`;
}

function spellTime(seconds: number, mark: string): string {
  const totalMs = Math.max(0, Math.round(seconds * 1000));
  const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
  const hours = Math.floor(totalMs / 3_600_000);
  const minutes = Math.floor(totalMs / 60_000) % 60;
  const wholeSeconds = Math.floor(totalMs / 1000) % 60;
  return `${pad(hours)}:${pad(minutes)}:${pad(wholeSeconds)}${mark}${pad(totalMs % 1000, 3)}`;
}

/**
 * What is said in a transcript, whatever its format. Subtitles are one text, so that what is said
 * over several of them is found.
 */
export function transcriptTexts(
  { contentType, bytes, isLast }: Transcript,
  format: string,
): string[] {
  const spelled = bytes.toString('utf8');
  // The last event of a stream repeats what the others said.
  if (isLast !== undefined) return isLast ? jsonTexts(spelled.replace(/^data: /, '')) : [];
  if (contentType.startsWith('application/json')) return jsonTexts(spelled);
  if (format !== 'srt' && format !== 'vtt') return [spelled];
  const lines = spelled.split(/\r?\n/).filter((line) => line !== '' && !isCueMark(line));
  return [lines.join(' ')];
}

/** Whether a line of subtitles is not spoken. */
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
 * Segments mostly repeat the whole, in its order; what they add counts as well. Each is looked for where
 * the one before it ended, since half a million of them would take minutes to be looked for everywhere.
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

/** Whole milliseconds, rounded up past what the decimal spelling of a binary fraction adds. */
export function secondsToMs(seconds: number): number {
  return Math.min(Math.ceil(Number((seconds * 1000).toFixed(3))), MAX_MS);
}

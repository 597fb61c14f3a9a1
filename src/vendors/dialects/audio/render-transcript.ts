import type { Transcript } from '../../../canonical/work-request.js';

/** A stretch of a transcript; times in seconds. */
export interface TranscriptSegment {
  start: number;
  end: number;
  text: string;
}

/** A transcript before it is spelled in the format that the caller asked for. */
export interface TranscriptParts {
  text: string;
  /** As the vendor calls it; empty where nobody said. */
  language: string;
  durationSeconds: number;
  segments: readonly TranscriptSegment[];
}

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

/** Spells a transcript as `json`, `text`, `srt`, `verbose_json` or `vtt`. */
export function renderTranscript(parts: TranscriptParts, format: string): Transcript {
  const isJson = format === 'json' || format === 'verbose_json';
  return {
    contentType: isJson ? JSON_TEXT : PLAIN_TEXT,
    bytes: Buffer.from(spell(parts, format)),
  };
}

function spell(parts: TranscriptParts, format: string): string {
  const { text, language, durationSeconds } = parts;
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
        task: 'transcribe',
        language,
        duration: durationSeconds,
        text,
        segments: cuesOf(parts).map((segment, id) => ({ id, ...segment })),
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
    .trim()
    .replace(/\s*\n\s*/g, '\n')
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

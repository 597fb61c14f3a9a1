/** Two lines of subtitles of the usual length. */
const MAX_CHARACTERS = 84;
/** A pause that starts a new segment. */
const PAUSE_SECONDS = 1;
/** Ends of sentences in any script, with closing quotes and brackets. */
const SENTENCE_END = /[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]["'\u2019\u201d\u300d)\]]*$/u;

/** A word of a transcript; times in seconds. */
export interface TimedWord {
  /** With the blank before it, if the script has any. */
  text: string;
  start: number;
  end: number;
  /** The vendor's name for the speaker. */
  speaker?: string;
}

/** A section of a transcript; times in seconds. */
export interface TranscriptSegment {
  start: number;
  end: number;
  text: string;
  speaker?: string;
}

/**
 * Groups words into segments for display: a sentence, or two lines of subtitles, of one speaker and
 * without a pause.
 */
export function segmentsOfWords(words: readonly TimedWord[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  let open: TranscriptSegment | undefined;
  for (const word of words) {
    if (open && !goesOn(open, word)) open = undefined;
    if (open) {
      open.text += word.text;
      open.end = Math.max(open.end, word.end);
      continue;
    }
    const { text, start, end, speaker } = word;
    open = { start, end, text: text.trimStart(), ...(speaker !== undefined && { speaker }) };
    segments.push(open);
  }
  return segments;
}

function goesOn(segment: TranscriptSegment, { text, start, speaker }: TimedWord): boolean {
  return (
    speaker === segment.speaker &&
    start - segment.end < PAUSE_SECONDS &&
    segment.text.length + text.length <= MAX_CHARACTERS &&
    !SENTENCE_END.test(segment.text)
  );
}

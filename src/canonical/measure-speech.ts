import { PromptMeter, countCodePoints, estimateTokens } from './prompt-size.js';
import { NO_USAGE, type Usage } from './usage.js';

/** Longest time to speak a letter, and any other character; digits are spoken as words. */
const MAX_LETTER_MS = 150;

const MAX_OTHER_MS = 500;

/** Pause before and after. */
const PAUSE_MS = 5_000;

/** Share of the longest duration that an unhurried voice takes. */
const USUAL_SHARE = 0.5;

const LETTERS = /[A-Za-z\s]/g;

/**
 * Returns the usage of speaking a text: its upper bound, and the estimate for vendors that report none.
 *
 * @param speed 1 is normal pace
 */
export function measureSpeech(
  input: string,
  instructions: string,
  speed: number,
): { ceiling: Usage; estimate: Usage } {
  const meter = new PromptMeter();
  meter.addText(input);
  meter.addText(instructions);
  const inputCharacters = countCodePoints(input);
  const known = { ...NO_USAGE, inputCharacters, inputBytes: Buffer.byteLength(input) };
  return {
    ceiling: {
      ...known,
      inputTokens: meter.size().tokens,
      audioMs: boundSpeechLength(input, speed),
    },
    estimate: {
      ...known,
      inputTokens: estimateTokens(inputCharacters + countCodePoints(instructions)),
      audioMs: estimateSpeechLength(input, speed),
    },
  };
}

/** Returns the longest that speaking a text may take, in whole milliseconds. */
function boundSpeechLength(text: string, speed: number): number {
  return Math.ceil(longestMs(text) / speed) + PAUSE_MS;
}

/** Estimates the duration of a spoken text when it was not measured, in milliseconds. */
function estimateSpeechLength(text: string, speed: number): number {
  return Math.ceil((longestMs(text) * USUAL_SHARE) / speed);
}

function longestMs(text: string): number {
  const letters = text.match(LETTERS)?.length ?? 0;
  const others = [...text].length - letters;
  return letters * MAX_LETTER_MS + others * MAX_OTHER_MS;
}

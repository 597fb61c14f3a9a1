import { PromptMeter, countCodePoints, estimateTokens } from './prompt-size.js';
import { NO_USAGE, type Usage } from './usage.js';

/** How long it may take to say a letter, and any other character; digits are said as words. */
const MAX_LETTER_MS = 150;

const MAX_OTHER_MS = 500;

/** Breath before and after. */
const PAUSE_MS = 5_000;

/** An unhurried voice says so much of the longest. */
const USUAL_SHARE = 0.5;

const LETTERS = /[A-Za-z\s]/g;

/**
 * What speaking a text uses: at most, and where no vendor says.
 *
 * @param speed 1 is the ordinary pace
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

/** The longest that speaking a text may take, in whole milliseconds. */
function boundSpeechLength(text: string, speed: number): number {
  return Math.ceil(longestMs(text) / speed) + PAUSE_MS;
}

/** What speaking a text is taken to last where nobody has measured it. */
function estimateSpeechLength(text: string, speed: number): number {
  return Math.ceil((longestMs(text) * USUAL_SHARE) / speed);
}

function longestMs(text: string): number {
  const letters = text.match(LETTERS)?.length ?? 0;
  const others = [...text].length - letters;
  return letters * MAX_LETTER_MS + others * MAX_OTHER_MS;
}

/** How long it may take to say a letter, and any other character; digits are said as words. */
const MAX_LETTER_MS = 150;
const MAX_OTHER_MS = 500;
/** Breath before and after. */
const PAUSE_MS = 5_000;
/** An unhurried voice says so much of the longest. */
const USUAL_SHARE = 0.5;

const LETTERS = /[A-Za-z\s]/g;

/** The longest that speaking a text may take, in whole milliseconds. */
export function boundSpeechLength(text: string, speed: number): number {
  return Math.ceil(longestMs(text) / speed) + PAUSE_MS;
}

/** What speaking a text is taken to last where nobody has measured it. */
export function estimateSpeechLength(text: string, speed: number): number {
  return Math.ceil((longestMs(text) * USUAL_SHARE) / speed);
}

function longestMs(text: string): number {
  const letters = text.match(LETTERS)?.length ?? 0;
  const others = [...text].length - letters;
  return letters * MAX_LETTER_MS + others * MAX_OTHER_MS;
}

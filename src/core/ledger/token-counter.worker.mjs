import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Counts the tokens of texts, away from the event loop. Plain JavaScript, because a worker's first
 * file is loaded by Node alone, in tests as well.
 */

// Where cores are few the event loop goes first. Linux gives each thread a priority of its own;
// elsewhere this would be the whole process's.
if (process.platform === 'linux') setPriority(10);

/** What looks like a mark of the vocabulary's own is text like any other. */
const AS_TEXT = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

/** A run of letters takes the square of its length. */
const MAX_PIECE_LENGTH = 500;

parentPort.on('message', (texts) => {
  let tokens = 0;
  for (const text of texts) {
    for (const piece of cut(text)) tokens += countTokens(piece, AS_TEXT);
  }
  parentPort.postMessage(tokens);
});

/** Pieces that have, but for a token here and there, the tokens of the text: they begin with a space where there is one. */
function* cut(text) {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_PIECE_LENGTH, text.length);
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end);
      if (space > start) end = space;
      else if (isLowSurrogate(text.charCodeAt(end))) end++;
    }
    yield text.slice(start, end);
    start = end;
  }
}

function isLowSurrogate(unit) {
  return (unit & 0xfc00) === 0xdc00;
}

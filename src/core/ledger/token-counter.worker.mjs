import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Counts the tokens of texts, off the event loop. Plain JavaScript, because Node loads a worker's first
 * file itself, even in tests.
 */

// The event loop goes first when cores are scarce. Only Linux has a priority per thread; elsewhere this
// would apply to the whole process.
if (process.platform === 'linux') setPriority(10);

/** Treats the vocabulary's special tokens as ordinary text. */
const AS_TEXT = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

/** Encoding a run of letters takes time quadratic in its length. */
const MAX_PIECE_LENGTH = 500;

parentPort.on('message', (texts) => {
  let tokens = 0;
  for (const text of texts) {
    for (const piece of cut(text)) tokens += countTokens(piece, AS_TEXT);
  }
  parentPort.postMessage(tokens);
});

/** Cuts a text at spaces where possible, so that the pieces have about the same number of tokens as the whole. */
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

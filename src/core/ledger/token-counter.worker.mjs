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

parentPort.on('message', ({ id, texts }) => {
  const tokens = texts.reduce((sum, text) => sum + countTokens(text, AS_TEXT), 0);
  parentPort.postMessage({ id, tokens });
});

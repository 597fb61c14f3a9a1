import type { EmbeddingInput } from '../../canonical/work-request.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { MAX_ITEMS } from './create-embeddings.schema.js';

const MAX_TOKEN = 2 ** 31 - 1;

/**
 * What a body's `input` asks to embed.
 *
 * @param input a string or an array of anything
 * @throws InvalidRequestError naming `input`, or the item at fault
 */
export function readEmbeddingInput(input: string | readonly unknown[]): EmbeddingInput {
  if (input.length === 0) throw new InvalidRequestError('input', '`input` must not be empty.');
  if (typeof input === 'string') return { type: 'texts', texts: [input] };
  const [first] = input;
  if (typeof first === 'number') {
    return { type: 'tokens', tokens: [readTokens(input, 'input')] };
  }
  if (input.length > MAX_ITEMS) {
    throw new InvalidRequestError(
      'input',
      `\`input\` holds ${input.length} items; at most ${MAX_ITEMS} are taken at once.`,
    );
  }
  if (Array.isArray(first)) {
    return {
      type: 'tokens',
      tokens: input.map((item, index) => readTokens(item, `input.${index}`)),
    };
  }
  return { type: 'texts', texts: input.map((item, index) => readText(item, `input.${index}`)) };
}

function readText(item: unknown, path: string): string {
  if (typeof item !== 'string') throw mixed(path, 'a string');
  if (item === '') throw new InvalidRequestError(path, `\`${path}\` must not be empty.`);
  return item;
}

function readTokens(item: unknown, path: string): readonly number[] {
  if (!Array.isArray(item)) throw mixed(path, 'an array of tokens');
  if (item.length === 0) throw new InvalidRequestError(path, `\`${path}\` must not be empty.`);
  const bad = item.findIndex(
    (token) => !Number.isInteger(token) || (token as number) < 0 || (token as number) > MAX_TOKEN,
  );
  if (bad !== -1) throw mixed(`${path}.${bad}`, 'a token, which is a whole number');
  return item as number[];
}

function mixed(path: string, expected: string): InvalidRequestError {
  return new InvalidRequestError(
    path,
    `\`${path}\` must be ${expected}: \`input\` is a text, an array of texts, an array of tokens or an array of such arrays.`,
  );
}

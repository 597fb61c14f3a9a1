/**
 * Responses of the mock upstream, computed only from the request's `user` field. The driver therefore
 * knows each response in advance and notices one that belongs to another request.
 *
 * A `user` is `<label>.<number>.<pieces>`.
 */

/** Pieces of a non-streamed response, which makes about 1 KB with its frame. */
export const WHOLE_ANSWER_PIECES = 60;

/** USD per token, and the same as hundredths of a credit, so that the driver's sums stay integers. */
export const PRICING = { prompt: '0.00000015', completion: '0.0000006' };
const PROMPT_HUNDREDTHS = 15;
const COMPLETION_HUNDREDTHS = 60;

export function makeUser(label, number, pieces = WHOLE_ANSWER_PIECES) {
  return `${label}.${number}.${pieces}`;
}

/** Returns the number of pieces; they are numbered from 0. */
export function piecesOf(user) {
  return Number(user.slice(user.lastIndexOf('.') + 1));
}

/**
 * Returns one piece of the text. The first contains the whole `user` and the length of the received
 * prompt, which shows that it arrived completely.
 */
export function pieceOf(user, index, promptCharacters) {
  if (index === 0) return `${user} ${promptCharacters}`;
  return ` ${numberOf(user)}-${index}`;
}

export function textOf(user, promptCharacters) {
  const pieces = [];
  for (let index = 0; index < piecesOf(user); index++) {
    pieces.push(pieceOf(user, index, promptCharacters));
  }
  return pieces.join('');
}

/** Differs between requests, so that a sum cannot be right by accident. */
export function usageOf(user) {
  const number = numberOf(user);
  return { promptTokens: 40 + (number % 61), completionTokens: piecesOf(user) + (number % 37) };
}

/** Returns the price of a response in credits: the exact sum, rounded up once. */
export function costOf({ promptTokens, completionTokens }) {
  const hundredths = promptTokens * PROMPT_HUNDREDTHS + completionTokens * COMPLETION_HUNDREDTHS;
  return Math.ceil(hundredths / 100);
}

function numberOf(user) {
  return Number(user.slice(user.indexOf('.') + 1, user.lastIndexOf('.')));
}

/**
 * What the mock upstream says to a request, computed from the request's `user` field alone, so that
 * the driver knows each answer beforehand and notices one that belongs to another request.
 *
 * A `user` is `<label>.<number>.<pieces>`.
 */

/** Pieces of a whole answer, which then is about 1 KB with its frame. */
export const WHOLE_ANSWER_PIECES = 60;

/** USD per token, and the same as hundredths of a credit, so that the driver's sums stay integers. */
export const PRICING = { prompt: '0.00000015', completion: '0.0000006' };
const PROMPT_HUNDREDTHS = 15;
const COMPLETION_HUNDREDTHS = 60;

export function makeUser(label, number, pieces = WHOLE_ANSWER_PIECES) {
  return `${label}.${number}.${pieces}`;
}

/** How many pieces the answer has; they are numbered from 0. */
export function piecesOf(user) {
  return Number(user.slice(user.lastIndexOf('.') + 1));
}

/**
 * One piece of an answer's text. The first names the whole `user` and says how long a prompt
 * arrived, which shows that it came through complete.
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

/** Differs from request to request, so that a sum cannot be right by accident. */
export function usageOf(user) {
  const number = numberOf(user);
  return { promptTokens: 40 + (number % 61), completionTokens: piecesOf(user) + (number % 37) };
}

/** The price of an answer in credits: the exact sum, rounded up once. */
export function costOf({ promptTokens, completionTokens }) {
  const hundredths = promptTokens * PROMPT_HUNDREDTHS + completionTokens * COMPLETION_HUNDREDTHS;
  return Math.ceil(hundredths / 100);
}

function numberOf(user) {
  return Number(user.slice(user.indexOf('.') + 1, user.lastIndexOf('.')));
}

import { InvalidRequestError } from '../platform/errors/gateway-errors.js';

/**
 * The aliases that a body names in `model` and `models`, in the order in which they are tried,
 * without repeats.
 *
 * @param value a body whose `model` is a string or nothing and whose `models` are strings or nothing
 * @throws InvalidRequestError naming the field at fault: no alias at all, or one without its provider
 */
export function readModelChain(value: Readonly<Record<string, unknown>>): [string, ...string[]] {
  const first = (value.model ?? undefined) as string | undefined;
  const rest = (value.models ?? []) as string[];
  const chain = new Set(first === undefined ? rest : [first, ...rest]);
  const [primary, ...fallbacks] = chain;
  if (primary === undefined) {
    throw new InvalidRequestError(
      'model',
      'The parameter `model` is missing: send `model`, or a list of `models`.',
    );
  }
  for (const alias of chain) {
    if (/^[^/]+\/.+$/s.test(alias)) continue;
    throw new InvalidRequestError(
      alias === first ? 'model' : `models.${rest.indexOf(alias)}`,
      `${JSON.stringify(alias)} is no model alias; write it as <provider>/<model>, for example openai/gpt-4o-mini.`,
    );
  }
  return [primary, ...fallbacks];
}

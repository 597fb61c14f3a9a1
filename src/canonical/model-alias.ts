/** The aliases a request names, in the order in which they are tried, or what is wrong with them. */
export type ModelChain =
  | { models: [string, ...string[]]; fault?: undefined }
  | { models?: undefined; fault: { param: string; message: string } };

/**
 * Reads `model` and `models` of a body whose schema has been checked: together they are one chain
 * without repeats, and every alias names its provider.
 */
export function readModelChain(value: { model?: unknown; models?: unknown }): ModelChain {
  const first = (value.model ?? undefined) as string | undefined;
  const rest = (value.models ?? []) as string[];
  const chain = new Set(first === undefined ? rest : [first, ...rest]);
  const [primary, ...fallbacks] = chain;
  if (primary === undefined) {
    const message = 'The parameter `model` is missing: send `model`, or a list of `models`.';
    return { fault: { param: 'model', message } };
  }
  for (const alias of chain) {
    if (/^[^/]+\/.+$/s.test(alias)) continue;
    const param = alias === first ? 'model' : `models.${rest.indexOf(alias)}`;
    const message = `${JSON.stringify(alias)} is no model alias; write it as <provider>/<model>, for example openai/gpt-4o-mini.`;
    return { fault: { param, message } };
  }
  return { models: [primary, ...fallbacks] };
}

import type { ToolDefinition } from '../../canonical/canonical-request.js';

/** A name that none of the caller's tools has: the wanted one, or that with underscores behind it. */
export function unusedToolName(tools: readonly ToolDefinition[], wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = wanted;
  while (taken.has(name)) name += '_';
  return name;
}

import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../canonical/canonical-request.js';

/**
 * A tool call's id as a vendor takes it: unchanged where its alphabet and length allow, else a
 * digest of it, so that different ids stay different and the same one stays the same.
 */
export function mapToolId(id: string, maxLength = 64): string {
  if (id.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 32)}`;
}

/** A name that none of the caller's tools has: the wanted one, or that with underscores behind it. */
export function unusedToolName(tools: readonly ToolDefinition[], wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = wanted;
  while (taken.has(name)) name += '_';
  return name;
}

import { types } from 'node:util';

/** The words of what was thrown, whatever it is. */
export function messageOf(thrown: unknown): string {
  return toError(thrown).message;
}

/** What was thrown as an error, for whoever takes nothing else. */
export function toError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(String(thrown), { cause: thrown });
}

/** The `code` that Node and its libraries give their errors, such as `ENOENT`; undefined where there is none. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Errors of another realm are no instances of this one's class. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

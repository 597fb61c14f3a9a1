import { types } from 'node:util';

/** Returns the message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return toError(thrown).message;
}

/** Returns a thrown value as an error. */
export function toError(thrown: unknown): Error {
  return isError(thrown) ? thrown : new Error(String(thrown), { cause: thrown });
}

/** Returns the `code` of errors of Node and its libraries, such as `ENOENT`; undefined without one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Errors of another realm are not instances of this realm's class. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

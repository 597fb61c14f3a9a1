import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyLease } from './body-budget.js';

/** The interface's limit on uploaded files: 25 MB. */
export const MAX_FILE_BYTES = 25_000_000;
/** The limit on the rest of a form: its fields and part headers. */
const MAX_OTHER_BYTES = 1_000_000;

/** The files that a form may contain. */
export interface FilePlaces {
  /** How many files per field; field names may end in `[]`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Path of the first file, which does not exist yet; further files get a number appended. */
  readonly path: string;
  /** Limit of all files together; the limit of one file by default. */
  readonly maxBytes?: number;
  /** The lease on the disk space for uploads; undefined when it is not counted. */
  readonly room?: BodyLease | undefined;
}

/** Returns the limit of the whole form. */
export function maxBytesOf({ maxBytes = MAX_FILE_BYTES }: FilePlaces): number {
  return maxBytes + MAX_OTHER_BYTES;
}

/** Strips the brackets that clients append to repeatable fields. */
export function fieldOf(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

/** Returns why a file is rejected; undefined when it is accepted. */
export function refusalOf(
  field: string,
  files: readonly { readonly field: string }[],
  places: FilePlaces,
): InvalidRequestError | undefined {
  const allowed = places.counts.get(field);
  if (allowed === undefined) {
    const names = [...places.counts.keys()].map((name) => `\`${name}\``).join(' and ');
    const taken =
      names === '' ? 'This form accepts no files.' : `Only these files are accepted: ${names}.`;
    return new InvalidRequestError(field.slice(0, 100) || 'body', taken);
  }
  const count = files.filter((file) => file.field === field).length;
  return count < allowed ? undefined : tooMany(places, field);
}

export function tooMany({ counts }: FilePlaces, field = firstOf(counts)): InvalidRequestError {
  const allowed = counts.get(field) ?? 0;
  const message =
    allowed > 1
      ? `The form accepts at most ${allowed} files as \`${field}\`.`
      : 'The form accepts one file only.';
  return new InvalidRequestError(field, message);
}

function firstOf(counts: FilePlaces['counts']): string {
  const [first = 'body'] = counts.keys();
  return first;
}

/** @param field of one file; undefined: the whole form */
export function tooLarge(
  { counts, maxBytes = MAX_FILE_BYTES }: FilePlaces,
  field?: string,
): InvalidRequestError {
  const limit = field === undefined ? maxBytes : MAX_FILE_BYTES;
  const isOne = field !== undefined || maxBytes === MAX_FILE_BYTES;
  const what = isOne ? 'The file is' : 'The files together are';
  return new InvalidRequestError(
    field ?? firstOf(counts),
    `${what} larger than ${limit / 1_000_000} MB.`,
    413,
  );
}

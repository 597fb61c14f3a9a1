import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyLease } from './body-budget.js';

/** The interface's limit on a file that is sent: 25 MB. */
export const MAX_FILE_BYTES = 25_000_000;
/** What the form may hold besides: its fields, and the frame of its parts. */
const MAX_OTHER_BYTES = 1_000_000;

/** The files that a form may hold. */
export interface FilePlaces {
  /** How many of each field, whose name may end in `[]`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Where the first goes, a file that does not exist yet; the others get a number behind it. */
  readonly path: string;
  /** Of all together; as much as of one, unless told. */
  readonly maxBytes?: number;
  /** Of what all uploads together may take on the disk; undefined where nothing is counted. */
  readonly room?: BodyLease | undefined;
}

/** Of the form as a whole. */
export function maxBytesOf({ maxBytes = MAX_FILE_BYTES }: FilePlaces): number {
  return maxBytes + MAX_OTHER_BYTES;
}

/** Clients spell the name of what may come several times with brackets. */
export function fieldOf(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name;
}

/** Why a file is not taken; undefined where it is. */
export function refusalOf(
  field: string,
  files: readonly { readonly field: string }[],
  places: FilePlaces,
): InvalidRequestError | undefined {
  const allowed = places.counts.get(field);
  if (allowed === undefined) {
    const names = [...places.counts.keys()].map((name) => `\`${name}\``).join(' and ');
    const taken = names === '' ? 'No file is taken here.' : `The only file taken is ${names}.`;
    return new InvalidRequestError(field.slice(0, 100) || 'body', taken);
  }
  const count = files.filter((file) => file.field === field).length;
  return count < allowed ? undefined : tooMany(places, field);
}

export function tooMany({ counts }: FilePlaces, field = firstOf(counts)): InvalidRequestError {
  const allowed = counts.get(field) ?? 0;
  const message =
    allowed > 1
      ? `The form may hold ${allowed} files as \`${field}\`.`
      : 'The form may hold one file only.';
  return new InvalidRequestError(field, message);
}

function firstOf(counts: FilePlaces['counts']): string {
  const [first = 'body'] = counts.keys();
  return first;
}

/** @param field of one file; undefined: all of the form */
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

import {
  BooleanField,
  EnumField,
  QueryIntegerField,
  StringField,
  type FieldDecorator,
} from './field.decorators.js';
import { isUuid } from '../database/stored-text.js';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { parseIsoDateTime } from '../time/dates.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

interface PageLimitOptions {
  /** The field's default in its class. */
  readonly default: number;
  /** Larger values are rejected; undefined: they are capped by the code that reads the field. */
  readonly maximum?: number;
  readonly description?: string;
}

/** A page size. */
export function PageLimit(
  options: PageLimitOptions,
): FieldDecorator<number, { readonly default: number }> {
  return QueryIntegerField({ minimum: 1, ...options });
}

/**
 * The number of entries to skip, newest first.
 *
 * @param entries what the list contains, such as `Jobs`
 */
export function PageOffset(entries: string): FieldDecorator<number, { readonly default: number }> {
  return QueryIntegerField({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    description: `${entries} to leave out, counted from the newest.`,
  });
}

/** The requested page of a list; lists with filters extend it. */
export class CursorPageQueryDto {
  @PageLimit({ default: DEFAULT_LIMIT, maximum: MAX_LIMIT, description: 'Entries per page.' })
  limit: number = DEFAULT_LIMIT;

  @StringField({
    optional: true,
    description: 'The `next_cursor` of the previous page; omit it for the first page.',
    message: 'must be one cursor',
  })
  cursor?: string;
}

/** A page; lists extend it with their `data`. */
export class CursorPageDto {
  @EnumField(['list'], { example: 'list' })
  object!: 'list';

  @BooleanField({ description: 'Whether more entries follow.', example: false })
  has_more!: boolean;

  @StringField({
    nullable: true,
    description: 'Send it as `cursor` for the next page; null on the last page.',
    example: null,
  })
  next_cursor!: string | null;
}

export interface CursorPage<Item> extends CursorPageDto {
  data: Item[];
}

/** The sort key of a row, one value per column; times as ISO 8601, texts to the microsecond. */
type Position = readonly (string | number | Date)[];

const TO_THE_MICROSECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Parsers for PostgreSQL; undefined for an invalid value. */
const READERS = {
  // Kept to the microsecond: a truncated time would skip rows.
  time: (text: string) => {
    const time = parseIsoDateTime(text);
    return time && TO_THE_MICROSECOND.test(text) ? text : time?.toISOString();
  },
  uuid: (text: string) => (isUuid(text) ? text : undefined),
  integer: (text: string) => (/^-?\d{1,18}$/.test(text) ? text : undefined),
  text: (text: string) => text,
};

/**
 * Returns the sort key after which the page starts; undefined for the first page.
 *
 * @param kinds of the key's values, in order
 * @throws InvalidRequestError (`cursor`) for a cursor that this list did not issue
 */
export function readCursor(
  cursor: string | undefined,
  kinds: readonly (keyof typeof READERS)[],
): string[] | undefined {
  if (cursor === undefined) return undefined;
  const texts = decode(cursor);
  const position = kinds
    .map((kind, index) => READERS[kind](texts?.[index] ?? ''))
    .filter((value) => value !== undefined);
  if (texts?.length === kinds.length && position.length === kinds.length) return position;
  throw new InvalidRequestError(
    'cursor',
    'The cursor does not belong to this list. Send a `next_cursor` unchanged, or none.',
  );
}

/**
 * @param rows one more than `limit` when more follow
 * @param positionOf returns a row's sort key
 */
export function toCursorPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => Position,
  toItem: (row: Row) => Item,
): CursorPage<Item> {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    object: 'list',
    data: shown.map(toItem),
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : writeCursor(positionOf(last)),
  };
}

/** Writes a cursor for `readCursor`. */
export function writeCursor(position: Position): string {
  const texts = position.map((value) =>
    value instanceof Date ? value.toISOString() : String(value),
  );
  return Buffer.from(JSON.stringify(texts)).toString('base64url');
}

function decode(cursor: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((each) => typeof each === 'string');
    // Stored texts contain no NUL or lone surrogate, and PostgreSQL accepts none.
    const areFine = texts.every((text) => text.isWellFormed() && !text.includes('\u0000'));
    return areFine && texts.length === value.length ? texts : undefined;
  } catch {
    return undefined;
  }
}

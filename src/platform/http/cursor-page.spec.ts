import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { readCursor, toCursorPage } from './cursor-page.js';

const row = (id: number) => ({ id, createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, 0, id)) });
const KINDS = ['time', 'integer'] as const;
const pageOf = (count: number, limit: number) =>
  toCursorPage(
    Array.from({ length: count }, (_, index) => row(index)),
    limit,
    ({ createdAt, id }) => [createdAt, id],
    ({ id }) => id,
  );

describe(toCursorPage.name, () => {
  it('has a cursor only if more entries follow', () => {
    expect(pageOf(0, 2)).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
    expect(pageOf(2, 2)).toMatchObject({ data: [0, 1], has_more: false, next_cursor: null });
    expect(pageOf(3, 2)).toMatchObject({ data: [0, 1], has_more: true });
  });

  it('returns cursors that point after the last entry', () => {
    const { next_cursor: cursor } = pageOf(3, 2);
    expect(readCursor(cursor ?? undefined, KINDS)).toEqual(['2026-01-01T00:00:00.001Z', '1']);
  });
});

describe(readCursor.name, () => {
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  it('treats no cursor as the beginning', () => {
    expect(readCursor(undefined, KINDS)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'abc'],
    ['no list', cursorOf({})],
    ['too few values', cursorOf(['2026-01-01T00:00:00Z'])],
    ['too many', cursorOf(['2026-01-01T00:00:00Z', '1', '2'])],
    ['a number', cursorOf(['2026-01-01T00:00:00Z', 1])],
    ['no time', cursorOf(['soon', '1'])],
    ['no integer', cursorOf(['2026-01-01T00:00:00Z', '1; DROP'])],
  ])('refuses %s', (_, cursor) => {
    expect(() => readCursor(cursor, KINDS)).toThrow(InvalidRequestError);
  });

  it('formats times for PostgreSQL', () => {
    const cursor = cursorOf(['2026-01-01T00:00:00,5+01:00', '-1']);
    expect(readCursor(cursor, KINDS)).toEqual(['2025-12-31T23:00:00.500Z', '-1']);
  });

  it('keeps the microseconds of a time', () => {
    const cursor = cursorOf(['2026-01-01T00:00:00.123456Z', '-1']);
    expect(readCursor(cursor, KINDS)).toEqual(['2026-01-01T00:00:00.123456Z', '-1']);
  });

  it('rejects text that PostgreSQL cannot store, and invalid ids', () => {
    expect(() => readCursor(cursorOf(['a\u0000']), ['text'])).toThrow(InvalidRequestError);
    expect(() => readCursor(cursorOf(['\ud800']), ['text'])).toThrow(InvalidRequestError);
    expect(() => readCursor(cursorOf(['a']), ['uuid'])).toThrow(InvalidRequestError);
  });
});

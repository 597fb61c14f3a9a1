/** One value that differs. Absent: there was, or is, none. */
export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What differs between two objects, by path; members that are no plain objects count as one value. */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  if (isPlain(before) || isPlain(after)) {
    const one = isPlain(before) ? before : {};
    const other = isPlain(after) ? after : {};
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) =>
      changesBetween(one[name], other[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [
    {
      path,
      ...(before !== undefined && before !== null && { before }),
      ...(after !== undefined && after !== null && { after }),
    },
  ];
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A changed value. `before` or `after` is absent if there was or is none. */
export interface Change {
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Returns the differences between two objects by path. Arrays count as single values. */
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

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path, or undefined if any part is missing. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => {
    if (typeof name === 'number')
      return Array.isArray(inner) ? (inner[name] as unknown) : undefined;
    return isObject(inner) ? inner[name] : undefined;
  }, value);
}

export function textAt(value: unknown, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Parses JSON, and returns undefined for invalid text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

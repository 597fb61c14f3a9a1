/** Formats headers as text: `Name: value`, one per line. */
export function writeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Parses headers. A line without a colon becomes a name without a value, which the API rejects. */
export function readHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.includes(':') ? line.indexOf(':') : line.length;
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

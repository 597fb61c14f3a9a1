/**
 * Reads `name=value,name=value`, the form in which OpenTelemetry's variables hold lists; values are
 * percent-encoded. Undefined when it is not of that form.
 */
export function readPairs(text: string): Record<string, string> | undefined {
  const pairs: [string, string][] = [];
  for (const item of text.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const equals = item.indexOf('=');
    if (equals < 1) return undefined;
    try {
      const value = decodeURIComponent(item.slice(equals + 1).trim());
      pairs.push([item.slice(0, equals).trim(), value]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}

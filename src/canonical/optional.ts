/** A member to spread into an object: none where the value is null or undefined. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | null | undefined,
): { [K in Key]?: Value } {
  return value == null ? {} : ({ [key]: value } as { [K in Key]?: Value });
}

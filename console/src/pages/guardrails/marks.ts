/** A part of a text; `found` holds the indexes of the groups whose places cover it. */
export interface MarkedPart {
  text: string;
  found: number[];
}

export interface Place {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * Splits a text where any place starts or ends.
 *
 * @param groups places by the match that found them
 */
export function markPlaces(text: string, groups: readonly (readonly Place[])[]): MarkedPart[] {
  const cuts = new Set([0, text.length]);
  for (const { start, end } of groups.flat()) {
    if (start < text.length) cuts.add(Math.max(0, start));
    if (end < text.length) cuts.add(Math.max(0, end));
  }
  const sorted = [...cuts].sort((one, other) => one - other);
  return sorted.slice(0, -1).map((start, index) => {
    const end = sorted[index + 1] ?? text.length;
    const found = groups.flatMap((places, group) =>
      places.some((place) => place.start <= start && place.end >= end) ? [group] : [],
    );
    return { text: text.slice(start, end), found };
  });
}

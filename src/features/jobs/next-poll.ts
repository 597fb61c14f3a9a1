const GROWTH = 1.25;
const LONGEST_MS = 30_000;

/** How long to leave a vendor alone that has been asked so often already. */
export function nextPollMs(firstMs: number, polls: number): number {
  return Math.round(
    Math.min(firstMs * GROWTH ** Math.min(polls, 40), Math.max(firstMs, LONGEST_MS)),
  );
}

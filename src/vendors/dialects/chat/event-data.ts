/**
 * The data lines of one server-sent event; comments and other fields are left out. A line break can
 * only stand between two JSON tokens, where a space does as well and keeps the event on one line.
 *
 * @param frame the event's lines, without the blank line at its end
 */
export function eventData(frame: string): string {
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join(' ')
    .trim();
}

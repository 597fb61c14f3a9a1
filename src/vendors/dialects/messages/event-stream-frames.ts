/** The byte order mark, which a stream may begin with: read as UTF-8, and as three Latin-1 characters. */
const BYTE_ORDER_MARKS = ['\ufeff', '\u00ef\u00bb\u00bf'];

/**
 * Whole server-sent events, without a byte order mark and with the line breaks that this dialect's
 * readers search for.
 *
 * @param frames decoded as UTF-8 or as Latin-1
 */
export function normalizeFrames(frames: string): string {
  const text = frames.includes('\r') ? frames.replaceAll('\r\n', '\n') : frames;
  const mark = BYTE_ORDER_MARKS.find((spelling) => text.startsWith(spelling));
  return mark === undefined ? text : text.slice(mark.length);
}

/**
 * The data of one event. A line break can only stand between two JSON tokens, where a space does as
 * well and keeps the event on one line.
 */
export function dataOfFrame(frame: string): string {
  const first = frame.startsWith('data:') ? 0 : frame.indexOf('\ndata:') + 1;
  if (first === 0 && !frame.startsWith('data:')) return '';
  const end = frame.indexOf('\n', first);
  if (end === -1) return frame.slice(first + 'data:'.length).trim();
  return frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join(' ')
    .trim();
}

/** The byte order mark, which a stream may begin with, as three Latin-1 characters. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/** Whole server-sent events with the line breaks that this dialect's readers search for. */
export function normalizeFrames(latin1: string): string {
  const text = latin1.includes('\r') ? latin1.replaceAll('\r\n', '\n') : latin1;
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
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

/**
 * The name and the parsed data of a server-sent event that has both, each on one line.
 *
 * @param event without its blank line
 * @throws Error for any other
 */
export function readNamedEvent(event) {
  const [nameLine, dataLine, ...rest] = event.split('\n');
  if (!nameLine.startsWith('event: ') || !dataLine?.startsWith('data: ') || rest.length > 0) {
    throw new Error(`an event of another form: ${event.slice(0, 80)}`);
  }
  return {
    name: nameLine.slice('event: '.length),
    data: JSON.parse(dataLine.slice('data: '.length)),
  };
}

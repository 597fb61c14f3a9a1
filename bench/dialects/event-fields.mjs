/**
 * Returns the name and the parsed data of a server-sent event, each on one line.
 *
 * @param event without its trailing blank line
 * @throws Error for any other event
 */
export function readNamedEvent(event) {
  const [nameLine, dataLine, ...rest] = event.split('\n');
  if (!nameLine.startsWith('event: ') || !dataLine?.startsWith('data: ') || rest.length > 0) {
    throw new Error(`an event has an unknown form: ${event.slice(0, 80)}`);
  }
  return {
    name: nameLine.slice('event: '.length),
    data: JSON.parse(dataLine.slice('data: '.length)),
  };
}

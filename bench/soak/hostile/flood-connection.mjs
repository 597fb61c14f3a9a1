import { connect } from 'node:net';

/**
 * Writes a piece of bytes repeatedly over one connection without a pause.
 *
 * @param options.start sent first
 * @param options.reads false leaves responses unread
 * @returns when the connection has ended or the time is up
 */
export function floodConnection({ url }, { start = '', piece, untilMs, reads = true }) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    if (reads) socket.resume();
    const end = setTimeout(() => socket.destroy(), Math.max(0, untilMs - Date.now()));
    socket
      .on('error', () => undefined)
      .once('close', () => {
        clearTimeout(end);
        resolve();
      });
    const push = (error) => {
      if (!error && socket.writable) socket.write(piece, push);
    };
    socket.once('connect', () => {
      if (start !== '') socket.write(start);
      push();
    });
  });
}

/** The same, but replaces each ended connection. @returns the number of connections */
export async function floodOn(stronghold, options) {
  let connections = 0;
  for (; Date.now() < options.untilMs; connections++) await floodConnection(stronghold, options);
  return connections;
}

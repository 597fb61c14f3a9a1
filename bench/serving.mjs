import { once } from 'node:events';

/**
 * Listens on a free loopback port and prints the URL in the first line of stdout. The parent holds the
 * other end of stdin: when that closes, however the parent exited, this process exits too.
 */
export async function listen(server) {
  server.listen(0, '127.0.0.1', 2048);
  await once(server, 'listening');
  process.stdin.resume().once('close', () => process.exit(0));
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
}

/** Reads a request's whole body as text. */
export async function readBody(request) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  await once(request, 'end');
  return (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8');
}

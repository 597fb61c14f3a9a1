import http from 'node:http';
import { once } from 'node:events';

/**
 * What the seeded gateway has outside of itself: vendors that say that they are well, and receivers of
 * webhooks and traces. What it does not know it answers with 404.
 */
export async function startVendor() {
  const server = http.createServer((request, response) => {
    request.resume();
    const isKnown = request.method === 'GET' || /^\/(hooks|traces)/.test(request.url);
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end('{"data":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

import http from 'node:http';
import { once } from 'node:events';

/**
 * External services of the seeded gateway: healthy vendors, and receivers of webhooks and traces.
 * Responds with 404 to anything else.
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

import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook {
  key: string;
  jobId: string;
  type: string;
}

/** Takes webhooks of jobs down, and refuses one in `refusesEvery` at first. */
export async function startWebhookReceiver(refusesEvery: number) {
  const received: ReceivedWebhook[] = [];
  let calls = 0;
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (++calls % refusesEvery === 0) {
        response.writeHead(503).end();
        return;
      }
      const { type, data } = JSON.parse(body) as { type: string; data: { id: string } };
      received.push({ key: String(request.headers['idempotency-key']), jobId: data.id, type });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface ReceivedPost {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** Takes down whatever is posted, at any path, and answers as it is told to. */
export async function startReceiver() {
  const posts: ReceivedPost[] = [];
  const answers = { status: 200, headers: {}, delayMs: 0 };
  const server = http.createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      posts.push({ path: request.url ?? '', headers: request.headers, body });
      const { status, headers, delayMs } = answers;
      setTimeout(() => response.writeHead(status, headers).end(), delayMs).unref();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    posts,
    answers,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

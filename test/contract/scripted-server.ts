import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that the server received. */
export interface RecordedCall {
  method: string;
  /** Path and query. */
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** Resolves when the caller's connection closed before the answer was complete. */
  hungUp: Promise<void>;
}

export type Script = (call: RecordedCall, response: http.ServerResponse) => void | Promise<void>;

export interface ScriptedServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  calls: RecordedCall[];
  /** The answer to the next calls. */
  script: Script;
  close(): Promise<void>;
}

/** Starts an HTTP server on a free loopback port that answers according to its script. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const calls: RecordedCall[] = [];
  const listener = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call: RecordedCall = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
        hungUp: new Promise((resolve) =>
          response.once('close', () => {
            if (!response.writableFinished) resolve();
          }),
        ),
      };
      calls.push(call);
      Promise.resolve(server.script(call, response)).catch(() => response.destroy());
    });
  });
  // A busy suite could otherwise use a connection that is just being closed.
  listener.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const server: ScriptedServer = {
    origin: `http://127.0.0.1:${port}`,
    calls,
    script,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
  return server;
}

/** Sends an answer in one piece. */
export function reply(status: number, headers: Record<string, string>, body: Buffer): Script {
  return (_call, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

import { once } from 'node:events';
import net from 'node:net';

/** A caller that requests a stream, reads the head, and then stops reading. */
export class StalledReader {
  requestId;
  #socket;

  /** Resolves when the head has arrived. @throws Error for any other response */
  async open(target, body) {
    const { hostname, port } = new URL(target.origin);
    this.#socket = net.connect({ host: hostname, port: Number(port) });
    this.#socket.on('error', () => undefined);
    this.#socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
        `authorization: Bearer ${target.apiKey}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n`,
    );
    this.#socket.write(body);
    const [chunk] = await once(this.#socket, 'data');
    this.#socket.pause();
    const head = chunk.toString('latin1').split('\r\n\r\n', 1)[0];
    this.requestId = /^x-request-id: (\S+)/im.exec(head)?.[1];
    if (!head.startsWith('HTTP/1.1 200') || this.requestId === undefined) {
      throw new Error(`The stream to stall did not start: ${head.slice(0, 200)}`);
    }
  }

  /** The local port of the connection, which identifies the gateway's end. */
  get port() {
    return this.#socket.localPort;
  }

  leave() {
    this.#socket.destroy();
  }
}

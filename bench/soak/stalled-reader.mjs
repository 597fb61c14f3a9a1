import { once } from 'node:events';
import net from 'node:net';

/** A caller who asks for a stream, takes its head, and then does not read any more. */
export class StalledReader {
  requestId;
  #socket;

  /** Resolves when the head has come. @throws Error for an answer that is none */
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
      throw new Error(`The stream that was to stall did not begin: ${head.slice(0, 200)}`);
    }
  }

  /** This end of the connection, by which the gateway's end is known. */
  get port() {
    return this.#socket.localPort;
  }

  leave() {
    this.#socket.destroy();
  }
}

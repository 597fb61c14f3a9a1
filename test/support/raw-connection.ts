import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** Headers by lower-case name; the last value of a repeated header. */
  headers: Record<string, string>;
  body: string;
}

const ANSWER_LIMIT_MS = 60_000;

/** A bare TCP connection, for bytes that no HTTP client would send. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private isClosed = false;
  private onChange = (): void => undefined;
  /** Resolves when the server has closed the connection in any way. */
  readonly closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.onChange();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      const close = (): void => {
        this.isClosed = true;
        this.onChange();
        resolve();
      };
      socket.once('end', close).once('close', close);
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return connection;
  }

  send(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Reads the next response; one with a body needs a content-length. */
  async answer(): Promise<RawAnswer> {
    const deadlineMs = Date.now() + ANSWER_LIMIT_MS;
    for (;;) {
      const answer = this.take();
      if (answer) return answer;
      if (this.isClosed)
        throw new Error(`closed after ${JSON.stringify(this.received.toString())}`);
      await new Promise<void>((resolve, reject) => {
        const late = (): void => reject(new Error('the server does not answer'));
        const timer = setTimeout(late, deadlineMs - Date.now());
        this.onChange = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private take(): RawAnswer | undefined {
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [statusLine = '', ...lines] = this.received.toString('latin1', 0, headEnd).split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
    if (this.received.length < end) return undefined;
    const body = this.received.toString('utf8', headEnd + 4, end);
    this.received = this.received.subarray(end);
    return { status: Number(statusLine.split(' ')[1]), headers, body };
  }
}

/** Returns the head of a request, including the blank line. */
export function requestHead(line: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ host: 'gateway', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [line, ...lines, '', ''].join('\r\n');
}

import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenAgain } from './listen-again.js';

/** A TCP proxy in front of a real server, for network faults. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private lost: { text: string; thenCut: boolean } | undefined;
  private late: { text: string; arrive: (() => void) | undefined } | undefined;
  private isSilent = false;
  port = 0;

  constructor(private readonly target: { host: string; port: number }) {}

  /** Opens one in front of a database; see `inFrontOf`. */
  static async before(databaseUrl: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(databaseUrl);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    await proxy.open();
    return proxy;
  }

  /** Accepts connections, on the same port as before. */
  async open(): Promise<void> {
    const server = createServer((client) => this.relay(client));
    this.server = server;
    await listenAgain(server, this.port);
    const address = server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
  }

  /** Returns the database's URL through this proxy, over TCP rather than a socket in a folder. */
  inFrontOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.port = String(this.port);
    url.searchParams.delete('host');
    return url.href;
  }

  /** Cuts every connection and refuses new ones. */
  async cut(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    const closed = new Promise<void>((resolve) =>
      server ? server.close(() => resolve()) : resolve(),
    );
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /**
   * Passes the next client bytes that contain `text` to the server. When it replies, cuts that connection
   * instead of passing the reply on, or with `thenCut` cuts all connections permanently.
   */
  loseNextReplyTo(text: string, options?: { thenCut: boolean }): void {
    this.lost = { text, thenCut: options?.thenCut === true };
  }

  /**
   * Holds back the next client bytes that contain `text`, like a network that fails and recovers. They
   * reach the server when the returned function is called, even if the client is gone. It returns whether
   * there were any.
   */
  delay(text: string): () => boolean {
    const late: { text: string; arrive: (() => void) | undefined } = { text, arrive: undefined };
    this.late = late;
    return () => {
      late.arrive?.();
      return late.arrive !== undefined;
    };
  }

  /** Keeps and accepts connections but passes nothing on, as if the machine had vanished. */
  silence(): void {
    this.isSilent = true;
  }

  private relay(client: Socket): void {
    const server = connect(this.target);
    let onReply: (() => void) | undefined;
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (this.isSilent) return;
      const { lost, late } = this;
      if (late && chunk.includes(late.text)) {
        this.late = undefined;
        this.sockets.delete(server);
        client.removeAllListeners('close');
        late.arrive = () => server.end(chunk);
        return;
      }
      if (lost && chunk.includes(lost.text)) {
        this.lost = undefined;
        onReply = lost.thenCut ? () => void this.cut() : () => client.destroy();
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (onReply) onReply();
      else client.write(chunk);
    });
  }
}

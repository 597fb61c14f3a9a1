import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from '../config/app-config.js';
import { escapeControls } from '../text/one-line.js';

/** Lines are buffered for this long, or until this many bytes. */
const FLUSH_AFTER_MS = 500;
const BUFFER_BYTES = 4_000;
/** Size up to which writes to a pipe are atomic: longer ones of several workers would interleave. */
const MAX_WRITE_BYTES = 4_096;
/** How much is kept for a reader that has stopped reading; later lines are dropped. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024;
/** How long the end of the process waits for such a reader … */
const CLOSE_STALL_MS = 1_000;
/** … and for one that reads slowly. */
const CLOSE_LIMIT_MS = 5_000;

const STANDARD_OUTPUT = 1;

const OPTIONS: LoggerOptions = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (level) => ({ level }) },
  // JSON keeps C1 controls and bidirectional overrides as they are, and a terminal obeys them.
  hooks: { streamWrite: (line) => `${escapeControls(line.slice(0, -1))}\n` },
};

/**
 * The service's structured log: one JSON object per line on standard output, for Nest too. It never receives prompts,
 * answers, keys or headers.
 */
export class JsonLogger implements LoggerService {
  private readonly stream: ReturnType<typeof destination>;
  private readonly logger: Logger;
  private flushing: NodeJS.Timeout | undefined;
  private closed: Promise<void> | undefined;
  /** True when each finished request is logged. */
  writesRequests = true;

  /** @param descriptor an open file to write to */
  constructor(descriptor = STANDARD_OUTPUT) {
    this.stream = destination({
      dest: descriptor,
      sync: false,
      minLength: BUFFER_BYTES,
      maxWrite: MAX_WRITE_BYTES,
      maxLength: MAX_BACKLOG_BYTES,
    });
    // A full disk or a closed reader: logging it would fail the same way.
    this.stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      // From then on the library drops lines.
      if (code === 'EPIPE') this.closed = Promise.resolve();
    });
    this.logger = pino(OPTIONS, this.stream);
  }

  /** Drops lines below this level from now on. */
  setLevel(level: LogLevel): void {
    this.logger.level = level;
  }

  /** Logs a finished request; probes and the like at `debug`. */
  request(fields: Record<string, unknown>, level: 'info' | 'debug' = 'info'): void {
    if (!this.writesRequests) return;
    this.logger[level](fields);
    this.flushSoon();
  }

  /** Drops Nest's own messages about modules and routes. */
  log(message: unknown, context?: string): void {
    if (!QUIET_CONTEXTS.has(context ?? '')) this.write('info', message, [context]);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /**
   * Writes the buffer at the end of the process. Unlike the library's `flushSync`, it never waits forever for a
   * reader or a disk.
   */
  close(): Promise<void> {
    this.closed ??= this.endStream();
    return this.closed;
  }

  private async endStream(): Promise<void> {
    clearTimeout(this.flushing);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(stalled);
        clearTimeout(limit);
        resolve();
      };
      const stalled = setTimeout(finish, CLOSE_STALL_MS);
      const limit = setTimeout(finish, CLOSE_LIMIT_MS);
      this.stream.on('write', () => stalled.refresh());
      this.stream.once('close', finish).once('error', finish);
      this.stream.end();
    });
    // The library would try again at exit.
    this.stream.flushSync = () => undefined;
  }

  /** Nest passes the context last; a plain object before it adds fields to the line. */
  private write(level: LogLevel | 'fatal', message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const text = message instanceof Error ? (message.stack ?? message.message) : String(message);
    const fields = rest.find(isPlainObject);
    this.logger[level]({ ...fields, ...(typeof context === 'string' && { context }) }, text);
    this.flushSoon();
  }

  private flushSoon(): void {
    this.flushing ??= setTimeout(() => {
      this.flushing = undefined;
      this.stream.flush();
    }, FLUSH_AFTER_MS).unref();
  }
}

const QUIET_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Errors do not count: a database error would bring its parameters along. */
function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor === Object;
}

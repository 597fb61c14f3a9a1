import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from '../config/app-config.js';

/** Lines are gathered for so long, or until there are so many bytes, before they are written. */
const FLUSH_AFTER_MS = 500;
const BUFFER_BYTES = 4_000;
/** What a pipe takes in one piece: the lines of several workers would mix in a longer one. */
const MAX_WRITE_BYTES = 4_096;
/** So much waits for a reader who has stopped reading; lines beyond that are lost. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024;
/** So long the end of the process waits for such a reader … */
const CLOSE_STALL_MS = 1_000;
/** … and so long for one who takes the rest bit by bit. */
const CLOSE_LIMIT_MS = 5_000;

const STANDARD_OUTPUT = 1;

const OPTIONS: LoggerOptions = {
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (level) => ({ level }) },
};

/**
 * The service's structured log: one JSON object a line on standard output. Nest and the services
 * log through it as well. Prompts, answers, keys and headers are never handed to it.
 */
export class JsonLogger implements LoggerService {
  private readonly stream: ReturnType<typeof destination>;
  private readonly logger: Logger;
  private flushing: NodeJS.Timeout | undefined;
  private closed: Promise<void> | undefined;
  /** Whether each finished request is a line. */
  writesRequests = true;

  /** @param descriptor of the open file that lines are written to */
  constructor(descriptor = STANDARD_OUTPUT) {
    this.stream = destination({
      dest: descriptor,
      sync: false,
      minLength: BUFFER_BYTES,
      maxWrite: MAX_WRITE_BYTES,
      maxLength: MAX_BACKLOG_BYTES,
    });
    // A full disk or a reader who is gone: said in the log, it would be the next line to fail.
    this.stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      // From then on the library takes lines and does nothing with them.
      if (code === 'EPIPE') this.closed = Promise.resolve();
    });
    this.logger = pino(OPTIONS, this.stream);
  }

  /** From now on lines of lesser importance are left out. */
  setLevel(level: LogLevel): void {
    this.logger.level = level;
  }

  /** One line about one finished request; `debug` for one that nobody waits to read about. */
  request(fields: Record<string, unknown>, level: 'info' | 'debug' = 'info'): void {
    if (!this.writesRequests) return;
    this.logger[level](fields);
    this.flushSoon();
  }

  /** Nest's own chatter about modules and routes is none of the operator's business. */
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
   * Writes what is gathered; for the end of the process, which must not wait for ever when nobody
   * reads or nothing can be written any more, as the library's own `flushSync` does.
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
    // The library would try once more when the process exits.
    this.stream.flushSync = () => undefined;
  }

  /** Nest passes the context last; a plain object before it holds further members of the line. */
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

/** No error is one: a database's would bring its parameters along. */
function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && value.constructor === Object;
}

import type { LoggerService } from '@nestjs/common';
import { destination, pino, type Logger, type LoggerOptions } from 'pino';

/** Lines are gathered for so long, or until there are so many bytes, before they are written. */
const FLUSH_EVERY_MS = 500;
const BUFFER_BYTES = 4_096;

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
  private readonly stream = destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
  });
  private readonly logger: Logger = pino(OPTIONS, this.stream);
  private readonly flushing = setInterval(() => this.stream.flush(), FLUSH_EVERY_MS);

  constructor() {
    this.flushing.unref();
  }

  /** One line about one finished request. */
  request(fields: Record<string, unknown>): void {
    this.logger.info(fields);
  }

  /** Nest's own chatter about modules and routes is none of the operator's business. */
  log(message: unknown, context?: string): void {
    if (!QUIET_CONTEXTS.has(context ?? '')) this.write('info', message, [context]);
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

  /** Writes what is gathered, at once; for the end of the process. */
  flush(): void {
    this.stream.flushSync();
  }

  /** Nest passes the context last; a plain object before it holds further members of the line. */
  private write(
    level: 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    const text = message instanceof Error ? (message.stack ?? message.message) : String(message);
    const fields = rest.find(isPlainObject);
    this.logger[level]({ ...fields, ...(typeof context === 'string' && { context }) }, text);
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

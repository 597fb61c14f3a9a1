import type { ParseArgsConfig } from 'node:util';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { CommandServices } from './command-services.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { parseIsoDateTime } from '../../platform/time/dates.js';
import type { Tenant } from '../../core/tenants/tenants.service.js';

/** The command cannot be done; the message is one line for the operator. Exit code 1, unless told. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** The command was not written as it should be. Exit code 2. */
export class UsageError extends Error {}

/** What a command may use. Nothing is opened before it asks. */
export interface CommandContext {
  /** @throws ConfigError */
  config: () => AppConfig;
  /** Connects to the database at the first call; closed when the command has ended. */
  services(): Promise<CommandServices>;
  /** Writes a line to standard output, with control characters escaped. */
  print: (line: string) => void;
  /** Writes a text of several lines likewise. */
  printText: (text: string) => void;
  /** Writes a line to standard error, for whoever watches while standard output is piped on. */
  note: (line: string) => void;
  /** Lets everybody else on this machine go first, from now on. */
  yieldToOthers: () => void;
}

interface CommandInput {
  /** As many as the command has `parameters`, and the optional one if it is there. */
  parameters: string[];
  options: Record<string, string | undefined>;
  /** Those of the command's `flags` that were written. */
  flags: ReadonlySet<string>;
  /** Of those of the command's `lists` that were written, all values in order. */
  lists: Readonly<Record<string, readonly string[] | undefined>>;
}

/** One of the operator's commands. */
export interface Command {
  /** The words that choose it, e.g. `tenant create`. */
  readonly name: string;
  readonly summary: string;
  /** Names of the values that follow the words, in order; all are required. */
  readonly parameters: readonly string[];
  /** Of one more value, which may be left out. */
  readonly optionalParameter?: string;
  /** Options with a value, each with the placeholder that the help shows for it. */
  readonly options: Readonly<Record<string, string>>;
  /** Options with a value that may be written again and again. */
  readonly lists?: Readonly<Record<string, string>>;
  /** Options without a value. */
  readonly flags?: readonly string[];
  /** @returns the exit code, where it is not 0 @throws UsageError, CommandError, ConfigError */
  run(input: CommandInput, context: CommandContext): Promise<0 | 1 | void>;
}

/** For `parseArgs`. */
export function parseArgsOptions(command: Command): NonNullable<ParseArgsConfig['options']> {
  const names = Object.keys(command.options);
  const lists = Object.keys(command.lists ?? {});
  return {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(lists.map((name) => [name, { type: 'string', multiple: true } as const])),
    ...Object.fromEntries(command.flags?.map((flag) => [flag, { type: 'boolean' as const }]) ?? []),
    help: { type: 'boolean', short: 'h' },
  };
}

/** @throws UsageError naming the argument unless it is a whole number in the range. */
export function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be an integer from ${min} to ${max}`);
}

export function readName(name: string, text: string): string {
  if (/^[^]{1,255}$/u.test(text)) return text;
  throw new UsageError(`${name} must have 1 to 255 characters`);
}

export function readUuid(name: string, text: string): string {
  if (isUuid(text)) return text;
  throw new UsageError(`${name} must be a UUID`);
}

export function readFutureTime(name: string, text: string): Date {
  const time = parseIsoDateTime(text);
  if (time && time.getTime() > Date.now()) return time;
  throw new UsageError(`${name} must be an ISO 8601 time in the future, e.g. 2030-12-31T23:59:59Z`);
}

/** @throws CommandError when there is no such tenant. */
export async function findTenant(services: CommandServices, name: string): Promise<Tenant> {
  const tenant = await services.tenants.findByName(name);
  if (tenant) return tenant;
  throw new CommandError(
    `there is no tenant ${JSON.stringify(name)}; "tenant list" shows which there are`,
  );
}

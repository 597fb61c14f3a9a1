import type { ParseArgsConfig } from 'node:util';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { CommandServices } from './command-services.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { parseIsoDateTime } from '../../platform/time/dates.js';
import type { Tenant } from '../../core/tenants/tenants.service.js';

/** Thrown when a command fails. The message is one line for the operator. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** Thrown for invalid arguments. The exit code is 2. */
export class UsageError extends Error {}

/** Resources of a command, opened on first use. */
export interface CommandContext {
  /** @throws ConfigError */
  config: () => AppConfig;
  /** Connects to the database on the first call. Closed when the command ends. */
  services(): Promise<CommandServices>;
  /** Writes a line to standard output with control characters escaped. */
  print: (line: string) => void;
  /** Writes several lines to standard output with control characters escaped. */
  printText: (text: string) => void;
  /** Writes a line to standard error, which stays visible when standard output is piped. */
  note: (line: string) => void;
  /** Lowers the priority of this process for the rest of the command. */
  yieldToOthers: () => void;
}

interface CommandInput {
  /** One per entry of the command's `parameters`, and the optional one if given. */
  parameters: string[];
  options: Record<string, string | undefined>;
  /** The given `flags`. */
  flags: ReadonlySet<string>;
  /** All values of the given `lists`, in order. */
  lists: Readonly<Record<string, readonly string[] | undefined>>;
}

/** An operator command. */
export interface Command {
  /** Its words, e.g. `tenant create`. */
  readonly name: string;
  readonly summary: string;
  /** Names of the required positional values, in order. */
  readonly parameters: readonly string[];
  /** Name of one more, optional value. */
  readonly optionalParameter?: string;
  /** Options with a value, mapped to the placeholder shown in the help. */
  readonly options: Readonly<Record<string, string>>;
  /** Repeatable options with a value, likewise. */
  readonly lists?: Readonly<Record<string, string>>;
  /** Options without a value. */
  readonly flags?: readonly string[];
  /** @returns the exit code, 0 if undefined @throws UsageError, CommandError, ConfigError */
  run(input: CommandInput, context: CommandContext): Promise<0 | 1 | void>;
}

/** Returns a command's options for `parseArgs`. */
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

/** @throws UsageError naming the argument unless it is an integer in the range */
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

/** @throws CommandError when the tenant does not exist */
export async function findTenant(services: CommandServices, name: string): Promise<Tenant> {
  const tenant = await services.tenants.findByName(name);
  if (tenant) return tenant;
  throw new CommandError(
    `there is no tenant ${JSON.stringify(name)}; "tenant list" shows the existing ones`,
  );
}

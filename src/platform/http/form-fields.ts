import { InvalidRequestError } from '../errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from './json-body.js';

/** `model`, `timestamp_granularities[]`, `provider[order][]` */
const NAME = /^([A-Za-z][\w-]{0,63})((?:\[[\w-]{0,63}\]){0,3})$/;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Which fields of a form are no texts, by their names. */
export interface FormShape {
  /** However a caller spells their names. */
  readonly lists: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly flags: ReadonlySet<string>;
  /** May come as JSON text. */
  readonly objects: ReadonlySet<string>;
}

/** Turns a form's fields into the object that a JSON body would have been. */
export class FormFields {
  private readonly fields: JsonObject = {};

  constructor(private readonly shape: FormShape) {}

  /**
   * An empty value counts as none.
   *
   * @throws InvalidRequestError for a name that cannot be read, or one that is sent twice
   */
  add(name: string, value: string): void {
    const [, first, rest = ''] = NAME.exec(name) ?? [];
    if (first === undefined) throw badName(name);
    const steps = [...rest.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1]!);
    if ([first, ...steps].some((step) => FORBIDDEN.has(step))) throw badName(name);
    if (value === '') return;
    if (steps.length === 0 && this.shape.lists.has(first)) steps.push('');
    put(this.fields, [first, ...steps], value, name);
  }

  /** @throws InvalidRequestError for an object that is not JSON */
  read(): JsonObject {
    const entries = Object.entries(this.fields).map(([name, value]): [string, unknown] => [
      name,
      typed(name, value, this.shape),
    ]);
    return Object.fromEntries(entries);
  }
}

function put(target: JsonObject, path: string[], value: string, name: string): void {
  const [step = '', next, ...rest] = path;
  if (next === undefined) {
    if (step in target) {
      throw new InvalidRequestError(name, `The field \`${name}\` is sent more than once.`);
    }
    target[step] = value;
    return;
  }
  if (next === '') {
    const list = (target[step] ??= []);
    if (!Array.isArray(list) || rest.length > 0) throw badName(name);
    list.push(value);
    return;
  }
  const child = (target[step] ??= {});
  if (!isJsonObject(child)) throw badName(name);
  put(child, [next, ...rest], value, name);
}

function typed(name: string, value: unknown, { numbers, flags, objects }: FormShape): unknown {
  if (isJsonObject(value)) {
    const { allow_fallbacks: flag } = value;
    return flag === undefined ? value : { ...value, allow_fallbacks: toFlag(flag) };
  }
  if (typeof value !== 'string') return value;
  if (numbers.has(name)) return /^\d{1,9}(\.\d{1,18})?$/.test(value) ? Number(value) : value;
  if (flags.has(name)) return toFlag(value);
  if (!objects.has(name)) return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return parsed;
  } catch {
    throw new InvalidRequestError(name, `The field \`${name}\` must be a JSON object.`);
  }
}

function toFlag(value: unknown): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}

function badName(name: string): InvalidRequestError {
  return new InvalidRequestError(
    'body',
    `The form's field name ${JSON.stringify(name.slice(0, 100))} cannot be read.`,
  );
}

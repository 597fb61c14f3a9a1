import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import type { TopLevelMember } from '../../platform/http/json-scanner.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import type { CompleteBody, ResponsesBody, TextFormat } from './create-response.schema.js';

/** Returns the items of a request's own input. A string is one user message. */
export function itemsOfInput(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

/**
 * Returns a self-contained body for vendors of this dialect: the whole conversation in `input`,
 * and gateway synonyms replaced by native fields. The bytes are serialized on demand.
 * @param ownItems items of the request's own input, with references resolved
 * @throws InvalidRequestError when a format is given in both spellings
 */
export function completeBody(
  body: JsonBody<ResponsesBody>,
  history: readonly JsonObject[],
  ownItems: readonly JsonObject[],
): JsonBody<CompleteBody> {
  const changes: Partial<CompleteBody> = respell(body.value);
  const { input } = body.value;
  const isAsReceived =
    !Array.isArray(input) || ownItems.every((item, index) => item === input[index]);
  if (history.length > 0 || !isAsReceived) changes.input = [...history, ...ownItems];
  if (Object.keys(changes).length === 0) return body;
  return new ChangedBody(body, changes);
}

class ChangedBody implements JsonBody<CompleteBody> {
  readonly value: CompleteBody;
  private made: { bytes: Buffer; members: readonly TopLevelMember[] } | undefined;

  constructor(
    private readonly original: JsonBody<ResponsesBody>,
    private readonly changes: Partial<CompleteBody>,
  ) {
    this.value = { ...original.value, ...changes };
  }

  get bytes(): Buffer {
    return this.make().bytes;
  }

  get members(): readonly TopLevelMember[] {
    return this.make().members;
  }

  private make(): NonNullable<ChangedBody['made']> {
    if (this.made) return this.made;
    const edits = new Map(
      Object.entries(this.changes).map(([key, value]) => [
        key,
        value === undefined ? undefined : JSON.stringify(value),
      ]),
    );
    const bytes = spliceMembers(this.original.bytes, this.original.members, edits);
    this.made = { bytes, members: topLevelMembers(bytes) };
    return this.made;
  }
}

/** Converts `response_format` to `text.format` and `reasoning.verbosity` to `text.verbosity`. */
function respell({
  text,
  response_format: format,
  reasoning,
}: ResponsesBody): Partial<CompleteBody> {
  const changes: Partial<CompleteBody> = {};
  const config: NonNullable<ResponsesBody['text']> = { ...text };
  if (format) {
    if (config.format != null) {
      throw new InvalidRequestError(
        'response_format',
        'Send either `text.format` or `response_format`, not both.',
      );
    }
    config.format = flatFormat(format);
    changes.response_format = undefined;
    changes.text = config;
  }
  if (reasoning && 'verbosity' in reasoning) {
    const { verbosity, ...rest } = reasoning;
    config.verbosity ??= verbosity;
    changes.reasoning = rest;
    changes.text = config;
  }
  return changes;
}

/**
 * Chat completions nest the schema in `json_schema`; Responses has its members next to the type.
 */
function flatFormat(format: NonNullable<ResponsesBody['response_format']>): TextFormat {
  const { json_schema: nested, ...rest } = format;
  if (format.type !== 'json_schema') return { type: format.type };
  const flat: JsonObject & Pick<TextFormat, 'type'> & { name: string } = {
    name: 'response',
    ...rest,
    ...nested,
  };
  const { schema } = flat;
  if (isJsonObject(schema)) return { ...flat, schema };
  const param = `response_format.${nested ? 'json_schema.schema' : 'json_schema'}`;
  throw new InvalidRequestError(param, `\`${param}\` must be an object.`);
}

import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import type { TopLevelMember } from '../../platform/http/json-scanner.js';
import { topLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import type { CompleteBody, ResponsesBody, TextFormat } from './create-response.schema.js';

/** The items of a request's own input; a string is one message of the user's. */
export function itemsOfInput(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

/**
 * The body as a vendor of this dialect understands it by itself: the whole conversation in
 * `input`, and the gateway's other spellings exchanged for the dialect's own. `value` is there at
 * once; the bytes are made when somebody asks for them.
 *
 * @param ownItems the items of the body's own input, of which some may have been looked up
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

/** `response_format` becomes `text.format`, and `reasoning.verbosity` becomes `text.verbosity`. */
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

/** Chat completions nest the schema in `json_schema`; here its members stand beside the type. */
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

const place = {
  item_id: { type: 'string' },
  output_index: { type: 'integer', description: 'Position of the item in the output.' },
} as const;

const inPart = { ...place, content_index: { type: 'integer' } } as const;

const inSummary = { ...place, summary_index: { type: 'integer' } } as const;

const text = { type: 'string' } as const;

const part = {
  title: 'ResponsePart',
  type: 'object',
  required: ['type'],
  properties: { type: { type: 'string' } },
} as const;

/** A distinct schema name: generators produced two classes with the same name. */
const error = {
  title: 'ResponseStreamError',
  type: 'object',
  required: ['code', 'message'],
  properties: { code: text, message: text },
} as const;

function event(
  types: readonly string[],
  members: Readonly<Record<string, object>>,
  prefix = 'response.',
): object {
  return {
    type: 'object',
    required: ['type', 'sequence_number', ...Object.keys(members)],
    properties: {
      type: { type: 'string', enum: types.map((type) => prefix + type) },
      sequence_number: { type: 'integer', description: 'Increases by one with every event.' },
      ...members,
    },
  };
}

/**
 * Builds the JSON Schema of a stream event's data.
 * @param schemas of the response object and of an item
 */
export function responseEventSchema({
  response,
  item,
}: Record<'response' | 'item', object>): object {
  return {
    title: 'ResponseStreamEvent',
    description:
      'The `data` of an event, whose name is its `type`. Vendors of this dialect may send additional types.',
    oneOf: [
      event(['created', 'in_progress', 'completed', 'incomplete', 'failed'], { response }),
      event(['output_item.added', 'output_item.done'], {
        output_index: place.output_index,
        item,
      }),
      event(['content_part.added', 'content_part.done'], { ...inPart, part }),
      event(['output_text.delta', 'refusal.delta'], { ...inPart, delta: text }),
      event(['output_text.done'], { ...inPart, text }),
      event(['refusal.done'], { ...inPart, refusal: text }),
      event(['reasoning_summary_part.added', 'reasoning_summary_part.done'], {
        ...inSummary,
        part,
      }),
      event(['reasoning_summary_text.delta'], { ...inSummary, delta: text }),
      event(['reasoning_summary_text.done'], { ...inSummary, text }),
      event(['function_call_arguments.delta', 'custom_tool_call_input.delta'], {
        ...place,
        delta: text,
      }),
      event(['function_call_arguments.done'], { ...place, arguments: text }),
      event(['custom_tool_call_input.done'], { ...place, input: text }),
      event(['error'], { error }, ''),
    ],
    example: {
      type: 'response.output_text.delta',
      sequence_number: 3,
      item_id: 'msg_…',
      output_index: 0,
      content_index: 0,
      delta: 'Hello',
    },
  };
}

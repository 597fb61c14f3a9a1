import type { BootedGateway } from '../../support/boot-gateway.js';
import { chatCaller } from './chat.caller.js';
import type { DialectCaller } from './dialect-caller.js';
import { messagesCaller } from './messages.caller.js';
import { responsesCaller } from './responses.caller.js';

export const DIALECTS = ['chat', 'messages', 'responses'] as const;

/** The official client of every dialect, for one gateway. */
export function allCallers(
  gateway: Pick<BootedGateway, 'url' | 'apiKey'>,
): Record<DialectCaller['name'], DialectCaller> {
  return {
    chat: chatCaller(gateway),
    messages: messagesCaller(gateway),
    responses: responsesCaller(gateway),
  };
}

/** Each dialect's fields that request an answer matching a schema. */
export function schemaFields(schema: object): Record<DialectCaller['name'], object> {
  const named = { type: 'json_schema', name: 'place', strict: true, schema };
  return {
    chat: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', strict: true, schema },
      },
    },
    messages: { output_config: { format: { type: 'json_schema', schema } } },
    responses: { text: { format: named } },
  };
}

import type { BootedGateway } from '../../support/boot-gateway.js';
import { chatCaller } from './chat.caller.js';
import type { DialectCaller } from './dialect-caller.js';
import { messagesCaller } from './messages.caller.js';
import { responsesCaller } from './responses.caller.js';

export const DIALECTS = ['chat', 'messages', 'responses'] as const;

/** The official client of every dialect, before one gateway. */
export function allCallers(
  gateway: Pick<BootedGateway, 'url' | 'apiKey'>,
): Record<DialectCaller['name'], DialectCaller> {
  return {
    chat: chatCaller(gateway),
    messages: messagesCaller(gateway),
    responses: responsesCaller(gateway),
  };
}

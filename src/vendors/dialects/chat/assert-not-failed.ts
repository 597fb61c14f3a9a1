import type { JsonObject } from '../../../platform/http/json-body.js';
import { classifyInlineChatError } from './classify-chat-error.js';

/**
 * Some gateways tell a failure inside a choice, as its `error` or by the finish reason `error`
 * alone, in an answer that otherwise looks like one.
 *
 * @throws UpstreamError what the choice says
 */
export function assertNotFailed(choice: JsonObject): void {
  if (choice.error != null || choice.finish_reason === 'error') {
    throw classifyInlineChatError({ error: choice.error ?? {} });
  }
}

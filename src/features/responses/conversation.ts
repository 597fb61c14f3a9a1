import type { JsonObject } from '../../platform/http/json-body.js';

/** The stored turns that a request goes on from. */
export interface Conversation {
  /** The response that the caller named. */
  previousResponseId: string;
  /** The id of its first turn. */
  conversationId: string;
  /** Input and output items of all turns, oldest first. */
  items: JsonObject[];
  /** What the items measure as JSON text, which bounds a conversation's length. */
  contextBytes: number;
}

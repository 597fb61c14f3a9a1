/**
 * Why an answer ended, in OpenAI's words, which are the interface's. A vendor's reason that has no
 * counterpart is passed on as it is rather than called `stop`.
 */
export type FinishReason =
  'stop' | 'length' | 'tool_calls' | 'content_filter' | (string & Record<never, never>);

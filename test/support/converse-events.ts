/** The canonical events that tests of Bedrock's stream expect. */

export const begun = { type: 'start' };
export const said = (value: string) => ({ type: 'text', choice: 0, text: value });
export const finished = (reason: string) => ({ type: 'finish', choice: 0, reason });
export const called = (index: number, id: string, name = 'look_up') => ({
  type: 'tool_call',
  choice: 0,
  index,
  id,
  name,
});
export const args = (index: number, value: string) => ({
  type: 'tool_arguments',
  choice: 0,
  index,
  text: value,
});
export const thought = (value: string, signature?: string) => ({
  type: 'reasoning',
  choice: 0,
  text: value,
  ...(signature !== undefined && { signature }),
});

import { CHAT, MESSAGES, RESPONSES } from './paths.js';

type Json = Record<string, unknown>;

/** The word that tests forbid. */
export const WORD = 'falcon-seven';

export const user = (content: unknown): Json => ({ role: 'user', content });
const toolUse = { type: 'tool_use', id: 't', name: 'f', input: { [WORD]: 1 } };
const call = (args: string): Json => ({
  role: 'assistant',
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
});
const result = { role: 'tool', tool_call_id: 'c', content: WORD };
const base64 = Buffer.from(WORD).toString('base64');
export const ESCAPED = '{"at":"\\u0066alcon-seven"}';

/** A name, a path and a body without its model, for every dialect, role and part through which text reaches a model. */
export const GUARDED_INPUTS: [string, string, Json][] = [
  ['chat user', CHAT, { messages: [user(WORD)] }],
  ['chat system', CHAT, { messages: [{ role: 'system', content: WORD }, user('Hi')] }],
  ['chat developer', CHAT, { messages: [{ role: 'developer', content: WORD }, user('Hi')] }],
  ['chat assistant', CHAT, { messages: [{ role: 'assistant', content: WORD }, user('Hi')] }],
  ['chat part', CHAT, { messages: [user([{ type: 'text', text: WORD }])] }],
  ['chat tool call', CHAT, { messages: [user('Hi'), call(`{"at":"${WORD}"}`), result] }],
  [
    'chat escaped call',
    CHAT,
    { messages: [user('Hi'), call(ESCAPED), { ...result, content: '' }] },
  ],
  ['chat tool result', CHAT, { messages: [user('Hi'), call('{}'), result] }],
  [
    'chat tool definition',
    CHAT,
    {
      messages: [user('Hi')],
      tools: [{ type: 'function', function: { name: 'f', description: WORD } }],
    },
  ],
  [
    'chat tool parameter',
    CHAT,
    {
      messages: [user('Hi')],
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: { type: 'object', properties: { [WORD]: {} } } },
        },
      ],
    },
  ],
  [
    'chat text file',
    CHAT,
    {
      messages: [user([{ type: 'file', file: { file_data: `data:text/plain;base64,${base64}` } }])],
    },
  ],
  ['chat file of no kind', CHAT, { messages: [user(`data:image/png;base64,see ${WORD}`)] }],
  ['chat input', CHAT, { input: WORD }],
  ['messages user', MESSAGES, { messages: [user(WORD)] }],
  ['messages system', MESSAGES, { messages: [user('Hi')], system: WORD }],
  [
    'messages system blocks',
    MESSAGES,
    { messages: [user('Hi')], system: [{ type: 'text', text: WORD }] },
  ],
  ['messages block', MESSAGES, { messages: [user([{ type: 'text', text: WORD }])] }],
  [
    'messages tool use',
    MESSAGES,
    { messages: [user('Hi'), { role: 'assistant', content: [toolUse] }, user('Hi')] },
  ],
  [
    'messages tool result',
    MESSAGES,
    {
      messages: [
        user('Hi'),
        { role: 'assistant', content: [{ ...toolUse, input: {} }] },
        user([{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: WORD }] }]),
      ],
    },
  ],
  [
    'messages document',
    MESSAGES,
    {
      messages: [
        user([
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: WORD } },
        ]),
      ],
    },
  ],
  ['messages count', `${MESSAGES}/count_tokens`, { messages: [user(WORD)] }],
  ['responses text', RESPONSES, { input: WORD }],
  ['responses instructions', RESPONSES, { input: 'Hi', instructions: WORD }],
  ['responses message', RESPONSES, { input: [user([{ type: 'input_text', text: WORD }])] }],
  [
    'responses call',
    RESPONSES,
    { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: ESCAPED }, user('Hi')] },
  ],
  [
    'responses call output',
    RESPONSES,
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: WORD },
      ],
    },
  ],
];

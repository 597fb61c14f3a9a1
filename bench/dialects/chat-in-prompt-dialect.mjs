import { chatDialect } from './chat-dialect.mjs';

const MARK = '\\n\\nThis is request ';
const WRITTEN_MARK = JSON.parse(`"${MARK}"`);

/** Chat completions with `user` at the end of the prompt, for gateways that drop that field. */
export const chatInPromptDialect = {
  ...chatDialect,

  /** Returns the body's JSON before and after the value of `user`. */
  encode({ alias, messages, isStreamed }) {
    const { head, tail } = chatDialect.encode({ alias, messages, isStreamed });
    const body = `${head}${tail}`.replace('"user":"",', '');
    const end = '"}]}';
    return { head: `${body.slice(0, -end.length)}${MARK}`, tail: end };
  },
};

/** Returns the end of the last message's content and its length; undefined without it. */
export function userAtEndOf(content) {
  const text = typeof content === 'string' ? content : (content.at(-1)?.text ?? '');
  const at = text.lastIndexOf(WRITTEN_MARK);
  if (at === -1) return undefined;
  return { user: text.slice(at + WRITTEN_MARK.length), characters: text.length - at };
}

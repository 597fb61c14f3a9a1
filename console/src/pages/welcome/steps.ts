import { CONSOLE_KEY_NAME } from '../../session/console-key-rules';

export const STEPS = ['try', 'vendor', 'key', 'code', 'arrival'] as const;
export type Step = (typeof STEPS)[number];

/** API data that decides which steps are done; undefined while it loads. */
export interface Known {
  logs: readonly { status: string; api_key_id: string }[] | undefined;
  keys: readonly { id: string; name: string; type: string; is_active: boolean }[] | undefined;
  models: readonly { id: string; kind?: string }[] | undefined;
}

const SANDBOX = 'sandbox/';

/** Returns the steps that are done. */
export function doneSteps(known: Known): ReadonlySet<Step> {
  const arrived = ownRequests(known).length > 0;
  const done: Record<Step, boolean> = {
    try: known.logs?.some(({ status }) => status === 'success') ?? false,
    vendor: known.models?.some(({ id }) => !id.startsWith(SANDBOX)) ?? false,
    key: ownKeys(known).length > 0,
    // A pasted snippet is only visible by its first request.
    code: arrived,
    arrival: arrived,
  };
  return new Set(STEPS.filter((step) => done[step]));
}

/** Returns requests made with other keys than the console's own. */
export function ownRequests<Row extends { api_key_id: string }>({
  logs,
  keys,
}: {
  logs: readonly Row[] | undefined;
  keys: Known['keys'];
}): Row[] {
  const consoles = new Set(
    keys?.filter(({ name }) => name.startsWith(CONSOLE_KEY_NAME)).map(({ id }) => id),
  );
  return keys === undefined
    ? []
    : (logs ?? []).filter(({ api_key_id }) => !consoles.has(api_key_id));
}

/** Returns active routing keys other than the console's own. */
export function ownKeys({ keys }: Pick<Known, 'keys'>): NonNullable<Known['keys']>[number][] {
  return (keys ?? []).filter(
    ({ name, type, is_active }) =>
      is_active && type === 'routing' && !name.startsWith(CONSOLE_KEY_NAME),
  );
}

/** Returns a chat model for examples: a vendor's if there is one. */
export function exampleModel(models: Known['models']): string {
  const chat = (models ?? []).filter(({ kind }) => kind === 'chat');
  const vendors = chat.filter(({ id }) => !id.startsWith(SANDBOX));
  // Prefers a small model, which costs less.
  const small = vendors.find(({ id }) => /mini|small|haiku|flash|lite/.test(id));
  return small?.id ?? vendors[0]?.id ?? 'sandbox/echo';
}

export const LANGUAGES = ['Python', 'JavaScript', 'curl'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Returns three lines of code that call a model. `key` may be a placeholder. */
export function threeLines(
  language: Language,
  { origin, key, model }: { origin: string; key: string; model: string },
): string {
  const base = `${origin}/v1`;
  const message = 'Hello!';
  switch (language) {
    case 'Python':
      return (
        `# pip install openai\nfrom openai import OpenAI\n` +
        `client = OpenAI(base_url="${base}", api_key="${key}")\n` +
        `print(client.chat.completions.create(model="${model}", messages=[{"role": "user", "content": "${message}"}]).choices[0].message.content)`
      );
    case 'JavaScript':
      return (
        `// npm install openai\nimport OpenAI from 'openai';\n` +
        `const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' });\n` +
        `console.log((await client.chat.completions.create({ model: '${model}', messages: [{ role: 'user', content: '${message}' }] })).choices[0].message.content);`
      );
    case 'curl':
      return (
        `curl '${base}/chat/completions' \\\n` +
        `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\\n` +
        `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "${message}"}]}'`
      );
  }
}

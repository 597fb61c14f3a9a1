import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { SecretBox, DecryptionError } from '../../platform/crypto/secret-box.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/** Prefix of our own compactions. Vendors' are base64, which has no dot. */
const PREFIX = 'gw1.';

const INTRODUCTION =
  'The conversation before this point has been compacted. This is the summary of it:\n\n';

/** Roles of non-message items in the request for a summary. */
const NAMES: Readonly<Record<string, string>> = {
  function_call_output: 'tool result',
  custom_tool_call_output: 'tool result',
};

const ASK =
  'Write the summary that another model needs to continue the conversation above as if it had read all of it: what the user wants, what was found out, decided and done, names, numbers and identifiers word for word, and what is left to do. Write only the summary, without an introduction.';

/** Encrypts compaction summaries with the gateway's secret, per tenant. */
@Injectable()
export class CompactionsService {
  private readonly box: SecretBox;

  constructor(@Inject(APP_CONFIG) config: AppConfig) {
    this.box = new SecretBox(() => gatewaySecrets(config), 'compaction');
  }

  /** Returns a compaction item with the summary, readable only by its tenant. */
  encrypt(tenantId: string, summary: string): JsonObject {
    const encrypted = this.box.encrypt(summary, tenantId).toString('base64');
    return {
      id: `cmp_${randomBytes(24).toString('hex')}`,
      type: 'compaction',
      encrypted_content: PREFIX + encrypted,
    };
  }

  /**
   * Replaces our own compactions with their summaries and leaves vendors' unchanged.
   * @param pathOf field path of an item in errors
   * @returns the same array when there are none
   * @throws InvalidRequestError for a compaction that was modified or belongs to another tenant
   */
  open(
    tenantId: string,
    items: readonly JsonObject[],
    pathOf: (index: number) => string,
  ): readonly JsonObject[] {
    if (!items.some(isOwnCompaction)) return items;
    return items.map((item, index) => {
      if (!isOwnCompaction(item)) return item;
      const summary = this.decrypt(tenantId, item.encrypted_content, pathOf(index));
      const content = [{ type: 'input_text', text: INTRODUCTION + summary }];
      return { type: 'message', role: 'developer', content };
    });
  }

  private decrypt(tenantId: string, content: string, path: string): string {
    try {
      return this.box.decrypt(Buffer.from(content.slice(PREFIX.length), 'base64'), tenantId);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new InvalidRequestError(
        `${path}.encrypted_content`,
        'This compaction cannot be read: it was modified, belongs to another account, or was encrypted with a secret that is no longer configured. Send the original items.',
      );
    }
  }
}

/** Fields that decide where the summary is generated. */
const ROUTING_FIELDS = [
  ...['model', 'models', 'provider', 'route'],
  ...['prompt_cache_key', 'service_tier'],
];

/** Builds the request for a conversation's summary, without its tools and media. */
export function askForSummary(body: JsonObject, items: readonly JsonObject[]): JsonObject {
  const { instructions } = body;
  const system =
    typeof instructions === 'string' && instructions !== ''
      ? [`instructions: ${instructions}`]
      : [];
  const transcript = [...system, ...items.flatMap(tell)].join('\n\n');
  const input = `<conversation>\n${transcript}\n</conversation>\n\n${ASK}`;
  const asked: JsonObject = { input, store: false };
  for (const field of ROUTING_FIELDS) if (body[field] != null) asked[field] = body[field];
  return asked;
}

/** Renders an item as text. Reasoning is left out. */
function tell(item: JsonObject): string[] {
  const type = typeof item.type === 'string' ? item.type : 'message';
  switch (type) {
    case 'message':
      return [`${typeof item.role === 'string' ? item.role : 'user'}: ${textOf(item.content)}`];
    case 'function_call':
      return [`assistant calls ${String(item.name)}: ${String(item.arguments)}`];
    case 'custom_tool_call':
      return [`assistant calls ${String(item.name)}: ${String(item.input)}`];
    case 'reasoning':
      return [];
    default:
      return [`${NAMES[type] ?? type}: ${textOf(item.output ?? item.content)}`];
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isJsonObject)
    .map(({ type, text, refusal }) => {
      if (typeof text === 'string') return text;
      return typeof refusal === 'string' ? refusal : `[${String(type)}]`;
    })
    .join('\n');
}

function isOwnCompaction(item: JsonObject): item is JsonObject & { encrypted_content: string } {
  const { type, encrypted_content: content } = item;
  return type === 'compaction' && typeof content === 'string' && content.startsWith(PREFIX);
}

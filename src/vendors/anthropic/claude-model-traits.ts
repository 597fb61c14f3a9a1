import type { MessagesModelTraits, MessagesVendor } from '../dialects/messages/messages-vendor.js';
import type { UpstreamCall } from '../upstream.js';

/** The maker of a Claude model's reasoning signatures, on any platform. */
export const CLAUDE_SIGNATURE_ISSUER = 'anthropic';

/** Servers that use the dialect for their own models, and document how they treat each field. */
const COMPATIBLE: MessagesModelTraits = {
  sampling: true,
  temperatureWithTopP: true,
  thinking: 'budget',
  thinksByDefault: false,
  thinkingOff: 'disabled',
  efforts: [],
  forcedToolChoice: true,
  prefill: true,
  structuredOutput: false,
};

const CLAUDE_3: MessagesModelTraits = { ...COMPATIBLE, thinking: 'none' };
const CLAUDE_4: MessagesModelTraits = { ...COMPATIBLE, temperatureWithTopP: false };
const CLAUDE_4_5: MessagesModelTraits = { ...CLAUDE_4, structuredOutput: true };
const CLAUDE_4_6: MessagesModelTraits = {
  ...CLAUDE_4_5,
  thinking: 'adaptive',
  efforts: ['low', 'medium', 'high', 'max'],
  prefill: false,
};
const CLAUDE_4_7: MessagesModelTraits = {
  ...CLAUDE_4_6,
  sampling: false,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
};
const CLAUDE_5: MessagesModelTraits = { ...CLAUDE_4_7, thinksByDefault: true };
/** The largest models cannot be kept from thinking. */
const ALWAYS_THINKING: MessagesModelTraits = { ...CLAUDE_5, thinkingOff: undefined };

/** Matches `claude-opus-4-5`, with or without a date, a platform's prefix or suffix; a date is not a minor version. */
const NAME = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d{1,2})(?!\d))?(?!\d)/;

/**
 * Returns the traits of a Claude model by its name on any platform. Models newer than this table get the
 * most restricted traits.
 */
export function claudeModelTraits(model: string): MessagesModelTraits {
  const [, line, major, minor = '0'] = NAME.exec(model) ?? [];
  if (line !== undefined) return traitsOf(line, Number(major), Number(minor));
  if (!model.includes('claude')) return COMPATIBLE;
  if (/claude-3-7/.test(model)) return { ...CLAUDE_3, thinking: 'budget' };
  return /claude-(?:[123]|v2|instant)/.test(model) ? CLAUDE_3 : ALWAYS_THINKING;
}

function traitsOf(line: string, major: number, minor: number): MessagesModelTraits {
  if (major < 4) return CLAUDE_3;
  if (major === 4) {
    if (minor < 5) return CLAUDE_4;
    if (minor === 5) return CLAUDE_4_5;
    return minor === 6 ? CLAUDE_4_6 : CLAUDE_4_7;
  }
  if (major > 5) return ALWAYS_THINKING;
  switch (line) {
    case 'fable':
    case 'mythos':
      return minor === 0 ? ALWAYS_THINKING : { ...ALWAYS_THINKING, forcedToolChoice: false };
    case 'opus':
      return minor < 5 ? CLAUDE_5 : { ...ALWAYS_THINKING, forcedToolChoice: false };
    case 'sonnet':
      return minor < 5
        ? CLAUDE_5
        : { ...CLAUDE_5, thinkingOff: 'between_tools', forcedToolChoice: false };
    default:
      return CLAUDE_5;
  }
}

/** Returns the vendor properties for a Claude model, on any platform. */
export function claudeVendorOf({
  upstreamModel,
}: Pick<UpstreamCall, 'upstreamModel'>): MessagesVendor {
  return { signatureIssuer: CLAUDE_SIGNATURE_ISSUER, traits: claudeModelTraits(upstreamModel) };
}

import type { MediaTokens } from '../../canonical/prompt-size.js';
import type { PricedWork } from '../../canonical/exact-pricing.js';
import type { PriceVariants } from '../../canonical/served-prices.js';

/** Kinds of models; determines the endpoints and the required prices. */
export const MODEL_KINDS = [
  'chat',
  'embedding',
  'speech',
  'transcription',
  'image',
  'video',
] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/**
 * USD per unit as decimal strings, to avoid floating point. The first four are part of the public
 * API; the others are set only where a vendor bills that unit.
 */
export interface Pricing {
  /** per input token */
  prompt: string;
  /** per output token */
  completion: string;
  /** per request */
  request: string;
  /** per image: produced by an image model, or read by a chat model that bills images apart */
  image: string;
  /** per input token read from the vendor's prompt cache */
  input_cache_read?: string;
  /** per input token written to the vendor's prompt cache */
  input_cache_write?: string;
  /** per input token written to the prompt cache for an hour, if more expensive */
  input_cache_write_1h?: string;
  /** per reasoning token, if different from `completion` */
  internal_reasoning?: string;
  /** per vendor-run web search */
  web_search?: string;
  /** per Unicode code point of speech input */
  audio_character?: string;
  /** per UTF-8 byte of speech input */
  audio_byte?: string;
  /** per minute of audio, produced or transcribed */
  audio_minute?: string;
  /** per second of produced video */
  video_second?: string;
}

/** Prices of long prompts, for all units. */
export interface LongPromptPrices {
  /** Tokens; a prompt of exactly this length is not long. */
  above: number;
  /** Units with a different price. */
  pricing: Partial<Pricing>;
}

/** Prices of a service tier or region; units not listed cost the same as in the row. */
export interface VariantPrices {
  pricing: Partial<Pricing>;
  /** Default: the row's, but never below the tier's or region's own price. */
  long_prompts?: LongPromptPrices[];
}

/** Prices of images or video of a size or quality; an omitted one matches any. */
export interface SizePrices {
  /** Such as `1024x1536`, or for video `1280x720` or `720p`. */
  size?: string;
  quality?: string;
  pricing: Partial<Pricing>;
}

/** Prices of a row or route besides `pricing`. */
export interface PriceTiers {
  /** For chat models with higher prices for long prompts, in ascending order. */
  long_prompts?: LongPromptPrices[];
  /** By the vendor's name of the tier: `flex`, `priority`. `batch` is for display only. */
  service_tiers?: Record<string, VariantPrices>;
  /** By region or region prefix, as in the vendor's usage or the account's setting. */
  regions?: Record<string, VariantPrices>;
  /** For image and video models. */
  sizes?: SizePrices[];
}

/** Prices that apply from a date, over those of the row and earlier changes. */
export interface PriceChange extends PriceTiers {
  /** `YYYY-MM-DD`, from 00:00 UTC. */
  effective_from: string;
  /** Units with a different price. */
  pricing?: Partial<Pricing>;
}

/**
 * A provider that serves a model, under its own name. Each kind of tier replaces the model's as a
 * whole; the model's service tiers and regions apply to its primary provider only.
 */
export interface Route extends PriceTiers {
  /**
   * Provider id: `openai`, `anthropic`, `azure`, `bedrock`, `vertex`, `fish-audio`, `elevenlabs`,
   * `deepgram`, `sandbox`, or an operator's own.
   */
  provider: string;
  /** The provider's model id. A trailing `*` stands for the rest of a family's alias. */
  model: string;
  /** 0 is the primary route; higher numbers are fallbacks in order. */
  priority: number;
  /** Prices that replace the model's, key by key. */
  pricing?: Partial<Pricing>;
  /** Over the route's prices; the row's changes apply to the row's prices only. */
  price_changes?: PriceChange[];
  /** Override the service's time limits, for slow models. */
  timeouts?: RouteTimeouts;
}

/** In ms. */
interface RouteTimeouts {
  first_byte_ms?: number;
  idle_ms?: number;
  request_ms?: number;
}

export interface Architecture {
  /** Such as `text+image->text`. */
  modality: string;
  input_modalities: string[];
  output_modalities: string[];
  tokenizer: string;
}

/** A catalogue row as in the file: a model that callers can name. */
export interface CatalogueModel extends PriceTiers {
  /** `<provider>/<model>` with the primary route's provider. Ends in `*` for a family. */
  id: string;
  kind: ModelKind;
  name: string;
  description: string;
  /** The vendor's release date in Unix seconds. */
  created: number;
  owned_by: string;
  context_length: number;
  max_completion_tokens: number | null;
  is_moderated: boolean;
  /** Null for embedding models. */
  architecture: Architecture | null;
  supported_parameters: string[];
  pricing: Pricing;
  /** Each applies from its date. */
  price_changes?: PriceChange[];
  /** Source of the prices, and the date on which it was read (`YYYY-MM-DD`). */
  source?: string;
  as_of?: string;
  /** Upper bounds of media tokens in prompts; omitted ones have defaults. */
  media_tokens?: MediaTokens;
  routes: Route[];
}

/** A validated catalogue row with exact prices. */
export interface Model extends Omit<CatalogueModel, 'routes'> {
  /** Id of the row; for a member of a family, the family's, which ends in `*`. */
  readonly catalogueId: string;
  /** By priority, the primary first. */
  readonly routes: readonly ModelRoute[];
}

export interface ModelRoute extends PricedWork {
  /** Undefined without variant prices. */
  readonly variants?: PriceVariants;
  readonly provider: string;
  /** The provider's model id; for a family with the caller's part filled in. */
  readonly upstreamModel: string;
  readonly priority: number;
  readonly timeouts: RouteTimeouts;
}

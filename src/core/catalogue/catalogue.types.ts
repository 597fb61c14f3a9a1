import type { MediaTokens } from '../../canonical/prompt-size.js';
import type { PricedWork } from '../../canonical/exact-pricing.js';
import type { PriceVariants } from '../../canonical/served-prices.js';

/** What a model is for; it decides which endpoints take it and which prices it must have. */
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
 * USD per unit as decimal strings, so that no price ever passes through floating point.
 * The first four are the interface's; the others are only present where a vendor bills that unit.
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
  /** … to be kept for an hour, where that costs more */
  input_cache_write_1h?: string;
  /** per reasoning token, where it differs from `completion` */
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

/** Prices of requests whose prompt is a long one, all of their units included. */
export interface LongPromptPrices {
  /** Tokens; a prompt of exactly so many costs what shorter ones do. */
  above: number;
  /** Units that cost something else then. */
  pricing: Partial<Pricing>;
}

/** Prices of a service tier or of a region: units that they leave out cost what they do in the row. */
export interface VariantPrices {
  pricing: Partial<Pricing>;
  /** Without them those of the row hold, and never cost less than the tier or region itself. */
  long_prompts?: LongPromptPrices[];
}

/** Prices of pictures or video of one size or quality; one that is left out is any. */
export interface SizePrices {
  /** e.g. `1024x1536`; of video `1280x720` or `720p`. */
  size?: string;
  quality?: string;
  pricing: Partial<Pricing>;
}

/** What a row or a route may say of prices beside its `pricing`. */
export interface PriceTiers {
  /** Of chat models whose vendors bill long prompts at higher prices; from short to long. */
  long_prompts?: LongPromptPrices[];
  /** By the vendor's name of the tier: `flex`, `priority`. Those of `batch` are shown only. */
  service_tiers?: Record<string, VariantPrices>;
  /** By a region, or the beginning of regions' names, as the vendor's usage or the account's setting has it. */
  regions?: Record<string, VariantPrices>;
  /** Of image and video models. */
  sizes?: SizePrices[];
}

/** Prices that hold from a day on, over those of the row and of earlier changes. */
export interface PriceChange extends PriceTiers {
  /** `YYYY-MM-DD`; from 00:00 UTC of that day. */
  effective_from: string;
  /** Units that cost something else then. */
  pricing?: Partial<Pricing>;
}

/**
 * One way to serve a model: a provider, and what that provider calls the model. Its tiers of each sort stand
 * in place of the model's as a whole; service tiers and regions of the model are its primary provider's alone.
 */
export interface Route extends PriceTiers {
  /** Provider id: `openai`, `anthropic`, `azure`, `bedrock`, `vertex`, `fish-audio`, `elevenlabs`, `deepgram`, `sandbox`, or an operator's own. */
  provider: string;
  /** The provider's own model id, as its API takes it. `*` at the end stands for the rest of a family's alias. */
  model: string;
  /** 0 is the primary route; higher ones are fallbacks, in order. */
  priority: number;
  /** Prices where this provider's differ from the model's; keys given here replace those of the model. */
  pricing?: Partial<Pricing>;
  /** Over the route's prices; those of the row change the row's alone. */
  price_changes?: PriceChange[];
  /** Time limits that replace the service's settings, for models known to be slow. */
  timeouts?: RouteTimeouts;
}

/** Milliseconds. */
interface RouteTimeouts {
  first_byte_ms?: number;
  idle_ms?: number;
  request_ms?: number;
}

export interface Architecture {
  /** e.g. `text+image->text` */
  modality: string;
  input_modalities: string[];
  output_modalities: string[];
  tokenizer: string;
}

/** One row of the catalogue: a model that callers can name, as it stands in a catalogue file. */
export interface CatalogueModel extends PriceTiers {
  /** `<provider>/<model>`; the provider is that of the primary route. Ends in `*` for a family. */
  id: string;
  kind: ModelKind;
  name: string;
  description: string;
  /** Unix seconds of the vendor's release. */
  created: number;
  owned_by: string;
  context_length: number;
  max_completion_tokens: number | null;
  is_moderated: boolean;
  /** Null for embedding models. */
  architecture: Architecture | null;
  supported_parameters: string[];
  pricing: Pricing;
  /** Each holds from its day on. */
  price_changes?: PriceChange[];
  /** The list or page that the prices are from, and the day on which it was read (`YYYY-MM-DD`). */
  source?: string;
  as_of?: string;
  /** What media in a prompt cost at most; the figures that are left out are the usual ones. */
  media_tokens?: MediaTokens;
  routes: Route[];
}

/** A validated catalogue row with its prices made exact. */
export interface Model extends Omit<CatalogueModel, 'routes'> {
  /** The row's own id; for a member of a family the family's, which ends in `*`. */
  readonly catalogueId: string;
  /** By priority, the primary first. */
  readonly routes: readonly ModelRoute[];
}

export interface ModelRoute extends PricedWork {
  /** Undefined: it has no other prices. */
  readonly variants?: PriceVariants;
  readonly provider: string;
  /** The provider's own model id; of a family, with the caller's part already in place of the `*`. */
  readonly upstreamModel: string;
  readonly priority: number;
  readonly timeouts: RouteTimeouts;
}

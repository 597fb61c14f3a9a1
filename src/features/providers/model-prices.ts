import type {
  LongPromptPrices,
  Model,
  PriceTiers,
  Pricing,
  VariantPrices,
} from '../../core/catalogue/catalogue.types.js';
import { changed, inOrder } from '../../core/catalogue/price-changes.js';
import type {
  LongPromptPricesDto,
  PriceChangeDto,
  PriceTiersDto,
  VariantPricesDto,
} from './prices.dto.js';
import type { ModelDto } from './providers.dto.js';

type ShownPrices = Pick<ModelDto, 'pricing' | 'price_changes' | 'source' | 'as_of'> & PriceTiersDto;

/** Returns today's prices of a model, each set complete, and announced changes. */
export function shownPricesOf(model: Model): ShownPrices {
  const pricing = wholeOf({}, model.pricing);
  const { source, as_of } = model;
  const changes = changesOf(pricing, model);
  return {
    pricing,
    ...tiersOf(pricing, model),
    ...(changes.length > 0 && { price_changes: changes }),
    ...(source !== undefined && { source }),
    ...(as_of !== undefined && { as_of }),
  };
}

/** Returns future changes, each complete with the prices that it leaves unchanged. */
function changesOf(today: Pricing, model: Model): PriceChangeDto[] {
  const now = new Date().toISOString().slice(0, 10);
  let before: PriceTiers & { pricing: Pricing } = { ...model, pricing: today };
  return inOrder(model.price_changes)
    .filter((change) => change.effective_from > now)
    .map((change) => {
      before = changed(before, change);
      const { pricing } = before;
      return { effective_from: change.effective_from, pricing, ...tiersOf(pricing, before) };
    });
}

/** Fills in the API's four required prices. */
function wholeOf(base: Partial<Pricing>, own: Partial<Pricing>): Pricing {
  const usual = { prompt: '0', completion: '0', request: '0', image: '0' };
  return { ...usual, ...base, ...own };
}

function tiersOf(base: Pricing, tiers: PriceTiers): PriceTiersDto {
  const { long_prompts: long, service_tiers: service, regions, sizes } = tiers;
  return {
    ...(long && { long_prompts: longOf(base, long) }),
    ...(service && { service_tiers: variantsOf(base, service) }),
    ...(regions && { regions: variantsOf(base, regions) }),
    ...(sizes && {
      sizes: sizes.map((size) => ({ ...size, pricing: wholeOf(base, size.pricing) })),
    }),
  };
}

function variantsOf(
  base: Pricing,
  variants: Record<string, VariantPrices>,
): Record<string, VariantPricesDto> {
  const shown: Record<string, VariantPricesDto> = {};
  for (const [name, { pricing: own, long_prompts: long }] of Object.entries(variants)) {
    const pricing = wholeOf(base, own);
    shown[name] = { pricing, ...(long && { long_prompts: longOf(pricing, long) }) };
  }
  return shown;
}

function longOf(base: Pricing, steps: readonly LongPromptPrices[]): LongPromptPricesDto[] {
  return steps.map(({ above, pricing }) => ({ above, pricing: wholeOf(base, pricing) }));
}

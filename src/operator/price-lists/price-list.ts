import type {
  ModelKind,
  PriceChange,
  PriceTiers,
  Pricing,
} from '../../core/catalogue/catalogue.types.js';

/** All prices of a model at one vendor, in catalogue form. */
export interface WholePricing extends PriceTiers {
  pricing: Partial<Pricing>;
  price_changes?: PriceChange[];
}

/** A model of a public price list. */
export interface ListedModel {
  /** The list's name of the vendor; see `Vendor.listedAs`. */
  readonly provider: string;
  /** Model name in the vendor's API. */
  readonly model: string;
  readonly prices: WholePricing;
  readonly kind?: ModelKind;
  readonly contextLength?: number;
  readonly maxCompletionTokens?: number;
  /** Why its prices are unusable; completes a sentence that starts with the model. */
  readonly problem?: string;
  /** Matches further names, if the list defines any. */
  readonly names?: (model: string) => boolean;
}

/** Thrown when a whole list is unusable. The message says why. */
export class PriceListError extends Error {}

/** Thrown for an invalid price. The message completes a sentence that starts with the model. */
export class BadPriceError extends Error {}

/** A parsed price list. */
export class PriceList {
  private readonly byProvider = new Map<string, Map<string, ListedModel>>();

  /** @param name display name of the list */
  constructor(
    readonly name: string,
    models: readonly ListedModel[],
  ) {
    for (const model of models) {
      let ofProvider = this.byProvider.get(model.provider);
      if (!ofProvider) {
        ofProvider = new Map<string, ListedModel>();
        this.byProvider.set(model.provider, ofProvider);
      }
      ofProvider.set(model.model, oneOf(ofProvider.get(model.model), model));
    }
  }

  get models(): ListedModel[] {
    return [...this.byProvider.values()].flatMap((models) => [...models.values()]);
  }

  /** Returns the model with this name, or the first that matches it. */
  find(provider: string, model: string): ListedModel | undefined {
    const models = this.byProvider.get(provider);
    return models?.get(model) ?? [...(models?.values() ?? [])].find((one) => one.names?.(model));
  }
}

/** A model listed twice is unusable, unless its prices are equal. */
function oneOf(before: ListedModel | undefined, model: ListedModel): ListedModel {
  if (!before) return model;
  if (JSON.stringify(before.prices) === JSON.stringify(model.prices)) return before;
  return { ...before, problem: 'is listed twice, with different prices' };
}

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;
/** A double represents any decimal number of up to this many digits unambiguously. */
const SURE_DIGITS = 15;
/** More than any price needs. Trimming trailing zeros of longer texts takes quadratic time. */
const MAX_TEXT = 100;
const MAX_PLACES = 18;
const MAX_WHOLE = 9;

/**
 * Converts a price to the form of catalogue rows: USD per unit as a decimal text.
 *
 * Lists contain prices as JSON numbers, with or without an exponent, which `JSON.parse` turns into
 * doubles. A number of at most 15 digits survives that unchanged, and published prices are shorter.
 * Longer ones, such as 3.3000000000000004e-07, come from floating-point arithmetic of the list's
 * author; rounding to 15 digits restores the original. All further arithmetic is on text: a price per
 * million is shifted by six places.
 *
 * @param value a number or its text
 * @param places by how many places to shift the point left: 6 for prices per million
 * @throws BadPriceError
 */
export function exactPrice(field: string, value: unknown, places = 0): string {
  const text = typeof value === 'number' ? value.toPrecision(SURE_DIGITS) : value;
  const shown = JSON.stringify(value)?.slice(0, 40);
  if (typeof text !== 'string')
    throw new BadPriceError(`${field} is ${shown}, which is not a price`);
  if (text.trim().startsWith('-')) throw new BadPriceError(`${field} is negative (${shown})`);
  const match = text.length > MAX_TEXT ? null : DECIMAL.exec(text);
  if (!match) throw new BadPriceError(`${field} is ${shown}, which is not a price`);
  const [, whole = '', fraction = '', exponent = '0'] = match;
  return moved(whole + fraction, fraction.length + places - Number(exponent), field, shown);
}

/** @param scale how many of the digits follow the point */
function moved(digits: string, scale: number, field: string, shown: string | undefined): string {
  const padded = digits.padStart(scale + 1, '0') + '0'.repeat(Math.max(0, -scale));
  const point = scale > 0 ? padded.length - scale : padded.length;
  const whole = padded.slice(0, point).replace(/^0+(?=\d)/, '');
  const fraction = padded.slice(point).replace(/0+$/, '');
  if (fraction.length > MAX_PLACES || whole.length > MAX_WHOLE) {
    throw new BadPriceError(
      `${field} is ${shown}, which has more than ${MAX_PLACES} decimal places or ${MAX_WHOLE} digits before them`,
    );
  }
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns a positive token count, or undefined for anything else. */
export function tokensIn(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : undefined;
}

/** Returns the model with the prices that `read` returns, or with the problem that it throws. */
export function listedModel(
  model: Omit<ListedModel, 'prices' | 'problem'>,
  read: () => WholePricing,
): ListedModel {
  try {
    return { ...model, prices: read() };
  } catch (error) {
    if (!(error instanceof BadPriceError)) throw error;
    return { ...model, prices: { pricing: {} }, problem: error.message };
  }
}

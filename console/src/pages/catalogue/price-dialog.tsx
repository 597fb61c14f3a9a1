import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { Notice, TextField } from '../../ui';
import { ConfigDialog } from './config-dialog';
import type { Model } from './config';
import {
  isPrice,
  isPriceName,
  PRICE_PATTERN,
  PRICES,
  formatPriceWithUnit,
  type PriceName,
} from './prices';

/** Edits the prices of a model after a preview. */
export function PriceDialog({
  model,
  latest,
  isOverridden,
  onClose,
}: {
  model: Model;
  latest: number | null;
  isOverridden: boolean;
  onClose: () => void;
}): ReactNode {
  const prices = pricesOf(model);
  const [texts, setTexts] = useState(() => new Map(prices));
  const known = new Map(
    prices.map(([name, price]) => [`models/${model.id}/pricing/${name}`, price]),
  );
  return (
    <ConfigDialog
      title={`Edit prices of ${model.id}`}
      action="Apply prices"
      latest={latest}
      known={known}
      onClose={onClose}
      send={(options) => {
        const changed = prices.filter(([name, price]) => texts.get(name) !== price);
        const pricing = Object.fromEntries(changed.map(([name]) => [name, texts.get(name)]));
        return api.PUT('/v1/admin/config/models/{id}', {
          params: { path: { id: model.id } },
          body: { row: changed.length > 0 ? { pricing } : {}, ...options },
        });
      }}
    >
      {isOverridden && (
        <Notice tone="warn">
          A file on this instance overrides prices of this model, so changes do not apply here.
        </Notice>
      )}
      <p className="muted">Prices in USD per unit, such as a token, request, image or second.</p>
      <div className="columns">
        {prices.map(([name]) => {
          const text = texts.get(name) ?? '';
          return (
            <TextField
              key={name}
              label={PRICES[name].label}
              hint={formatPriceWithUnit(name, text)}
              error={
                isPrice(text) ? undefined : 'Enter a decimal number in USD, such as 0.0000025.'
              }
              inputMode="decimal"
              required
              pattern={PRICE_PATTERN}
              value={text}
              onChange={(typed) => setTexts(new Map(texts).set(name, typed.trim()))}
            />
          );
        })}
      </div>
    </ConfigDialog>
  );
}

/** Returns the model's prices in the order of `PRICES`. */
function pricesOf({ pricing }: Model): [PriceName, string][] {
  const known = new Map(Object.entries(pricing));
  return Object.keys(PRICES).flatMap((name) => {
    const price = known.get(name);
    return isPriceName(name) && price !== undefined ? [[name, price]] : [];
  });
}

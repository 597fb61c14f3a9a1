import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { Notice, TextField } from '../../ui';
import { ConfigDialog } from './config-dialog';
import type { Model } from './config';
import { isPrice, isPriceName, PRICE_PATTERN, PRICES, tellPrice, type PriceName } from './prices';

/** Changes prices of one model, after a look at what would differ. */
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
      title={`Prices of ${model.id}`}
      action="Change the prices"
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
          A file of this instance declares prices of this model. It comes before the version here.
        </Notice>
      )}
      <p className="muted">In USD for one: a token, a request, an image, a second.</p>
      <div className="columns">
        {prices.map(([name]) => {
          const text = texts.get(name) ?? '';
          return (
            <TextField
              key={name}
              label={PRICES[name].label}
              hint={tellPrice(name, text)}
              error={isPrice(text) ? undefined : 'A decimal number of USD, such as 0.0000025'}
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

/** In the order of their names in `PRICES`. */
function pricesOf({ pricing }: Model): [PriceName, string][] {
  const known = new Map(Object.entries(pricing));
  return Object.keys(PRICES).flatMap((name) => {
    const price = known.get(name);
    return isPriceName(name) && price !== undefined ? [[name, price]] : [];
  });
}

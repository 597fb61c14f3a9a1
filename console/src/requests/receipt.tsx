import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../api/client';
import type { components } from '../api/schema';
import { formatCount, formatExact } from '../format/credits';
import { Credits, DataTable, Time, type Column } from '../ui';
import './requests.css';

type Receipt = components['schemas']['Receipt'];
type Line = components['schemas']['ReceiptLine'];

/**
 * The signed receipt of a request.
 *
 * @param headers whose it is, where that is not the chosen tenant
 */
export function useReceipt(
  requestId: string,
  { headers = {}, enabled = true }: { headers?: Record<string, string>; enabled?: boolean } = {},
) {
  const params = { path: { request_id: requestId } };
  return useQuery({
    queryKey: ['receipt', requestId, headers],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/receipts/{request_id}', { params, headers, signal }),
    enabled,
  });
}

const LINE_COLUMNS: Column<Line>[] = [
  { header: 'Used', cell: ({ item }) => item.replaceAll('_', ' ') },
  { header: 'Quantity', align: 'end', cell: ({ quantity }) => formatCount(quantity) },
  {
    header: 'Price',
    align: 'end',
    cell: ({ unit_price, per }) => (
      <span className="mono">
        ${unit_price}
        {per !== 1 && ` / ${formatCount(per)}`}
      </span>
    ),
  },
  { header: 'Credits', align: 'end', cell: ({ amount }) => formatExact(amount) },
];

/** How the cost of a request came about: prices times usage, and what was done with the sum. */
export function ReceiptArithmetic({ receipt }: { receipt: Receipt }): ReactNode {
  const { charge, answer, usage, prices } = receipt;
  return (
    <>
      {answer.cached && <p>Answered from the cache, which is free.</p>}
      {charge.lines === null ? (
        <p className="muted">The prices of this request were not kept; only its cost is known.</p>
      ) : (
        <DataTable
          caption="Prices times usage"
          columns={LINE_COLUMNS}
          rows={charge.lines}
          rowKey={({ item, price }) => `${item} ${price}`}
          empty={<p className="muted">Nothing was used that has a price.</p>}
        />
      )}
      <dl className="request-sums">
        {charge.sum !== null && <Fact label="Sum">{formatExact(charge.sum)} credits</Fact>}
        {charge.rounded !== null && (
          <Fact label="Rounded up once">{formatCount(charge.rounded)} credits</Fact>
        )}
        {charge.byok_fee_percent !== null && (
          <Fact label="Fee over your own account">{charge.byok_fee_percent} %</Fact>
        )}
        {charge.beyond_hold > 0 && (
          <Fact label="Beyond what was held, which nobody pays">
            − {formatCount(charge.beyond_hold)}
          </Fact>
        )}
        {charge.shortfall > 0 && (
          <Fact label="Beyond the balance, which the operator bears">
            − {formatCount(charge.shortfall)}
          </Fact>
        )}
        <Fact label="Charged">
          <Credits value={charge.cost} />
        </Fact>
        {charge.refunds.map((refund) => (
          <Fact key={refund.created_at} label="Refunded">
            − <Credits value={refund.amount} />, <Time at={refund.created_at} />
          </Fact>
        ))}
        {charge.refunds.length > 0 && (
          <Fact label="Left">
            <Credits value={charge.net} />
          </Fact>
        )}
      </dl>
      <small className="muted">
        {usage.source === 'upstream' && 'Counted by the vendor.'}
        {usage.source === 'estimated' && 'Estimated, as the vendor gave no counts.'}
        {usage.source === 'none' && 'Nobody counted, so nothing is charged.'}
        {answer.billing_note !== null && ` ${answer.billing_note}`}
        {prices && ` Prices ${prices.id.slice(0, 8)}.`}
      </small>
    </>
  );
}

/** A line of a list of the class `request-sums`. */
export function Fact({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

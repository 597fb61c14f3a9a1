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
 * Fetches the signed receipt of a request.
 *
 * @param headers tenant header, if the request belongs to another tenant than the selected one
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
  { header: 'Usage', cell: ({ item }) => item.replaceAll('_', ' ') },
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

/** Shows how a request's cost was calculated. */
export function ReceiptArithmetic({ receipt }: { receipt: Receipt }): ReactNode {
  const { charge, answer, usage, prices } = receipt;
  return (
    <>
      {answer.cached && <p>Served from the response cache, free of charge.</p>}
      {charge.lines === null ? (
        <p className="muted">The prices of this request are not available, only its cost.</p>
      ) : (
        <DataTable
          caption="Cost calculation"
          columns={LINE_COLUMNS}
          rows={charge.lines}
          rowKey={({ item, price }) => `${item} ${price}`}
          empty={<p className="muted">No billable usage.</p>}
        />
      )}
      <dl className="request-sums">
        {charge.sum !== null && <Fact label="Sum">{formatExact(charge.sum)} credits</Fact>}
        {charge.rounded !== null && (
          <Fact label="Rounded up">{formatCount(charge.rounded)} credits</Fact>
        )}
        {charge.byok_fee_percent !== null && (
          <Fact label="BYOK fee">{charge.byok_fee_percent} %</Fact>
        )}
        {charge.beyond_hold > 0 && (
          <Fact label="Above the reservation, not charged">
            − {formatCount(charge.beyond_hold)}
          </Fact>
        )}
        {charge.shortfall > 0 && (
          <Fact label="Shortfall, covered by the operator">− {formatCount(charge.shortfall)}</Fact>
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
          <Fact label="Net">
            <Credits value={charge.net} />
          </Fact>
        )}
      </dl>
      <small className="muted">
        {usage.source === 'upstream' && 'Usage reported by the vendor.'}
        {usage.source === 'estimated' && 'Usage estimated: the vendor reported none.'}
        {usage.source === 'none' && 'No usage was reported, so nothing is charged.'}
        {answer.billing_note !== null && ` ${answer.billing_note}`}
        {prices && ` Price snapshot ${prices.id.slice(0, 8)}.`}
      </small>
    </>
  );
}

/** An item of a `request-sums` list. */
export function Fact({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, unwrap } from '../../api/client';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Button,
  Card,
  Code,
  Credits,
  DataTable,
  Drawer,
  Facts,
  Field,
  Notice,
  QueryState,
  TextInput,
  Time,
  type Column,
} from '../../ui';

type Line = NonNullable<components['schemas']['ReceiptCharge']['lines']>[number];

const COLUMNS: readonly Column<Line>[] = [
  { id: 'item', header: 'Item', cell: ({ item }) => item },
  {
    id: 'quantity',
    header: 'Quantity',
    align: 'end',
    cell: ({ quantity }) => formatCount(quantity),
  },
  {
    id: 'price',
    header: 'Price',
    align: 'end',
    cell: ({ unit_price, per }) => `${unit_price} credits${per === 1 ? '' : ` per ${per}`}`,
  },
  { id: 'amount', header: 'Credits', align: 'end', cell: ({ amount }) => amount },
];

/** Looks a receipt up by its request. */
export function Receipts(): ReactNode {
  const [, setFilters] = useFilters(['receipt']);
  const [id, setId] = useState('');
  return (
    <Card title="Find a receipt">
      <p className="muted">
        A receipt says what one request cost and why, signed, so that anybody can check it offline.
        The ledger and the list of requests lead to it too.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          setFilters({ receipt: id.trim() });
        }}
      >
        <Field label="Request" hint="The x-request-id of its answer.">
          <TextInput
            required
            value={id}
            placeholder="00000000-0000-0000-0000-000000000000"
            onChange={({ target }) => setId(target.value)}
          />
        </Field>
        <div className="row">
          <Button variant="primary" type="submit">
            Show
          </Button>
        </div>
      </form>
    </Card>
  );
}

export function ReceiptDrawer({
  requestId,
  onClose,
}: {
  requestId: string;
  onClose: () => void;
}): ReactNode {
  const receipt = useQuery({
    queryKey: ['receipt', requestId],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/v1/customer/receipts/{request_id}', {
          params: { path: { request_id: requestId } },
          signal,
        }),
      ),
  });
  return (
    <Drawer title="Receipt" open onOpenChange={(open) => !open && onClose()}>
      <QueryState query={receipt}>{(signed) => <ReceiptView {...signed} />}</QueryState>
    </Drawer>
  );
}

function ReceiptView({ receipt, jws }: components['schemas']['SignedReceipt']): ReactNode {
  const { request, answer, usage, charge } = receipt;
  return (
    <>
      <Facts
        facts={[
          ['Request', <code key="id">{request.id}</code>],
          ['Time', <Time key="time" at={request.created_at} />],
          ['Model', request.model],
          ['Served by', answer.provider],
          [
            'Outcome',
            <Badge key="outcome" tone={answer.outcome === 'completed' ? 'good' : 'warn'}>
              {answer.outcome}
            </Badge>,
          ],
          ['Usage by', usage.source],
          ...(answer.cached ? [['Cache', 'a kept answer'] as const] : []),
          ...(answer.traffic_mode === 'byok' ? [['Account', 'your own'] as const] : []),
          ...(answer.billing_note ? [['Note', answer.billing_note] as const] : []),
        ]}
      />
      {charge.lines === null ? (
        <Notice tone="info">Its prices were not kept yet, so only what it cost is known.</Notice>
      ) : (
        <DataTable
          caption="How the charge came about"
          columns={COLUMNS}
          rows={charge.lines}
          rowKey={({ item, price }) => `${item} ${price}`}
          empty={<p className="muted">Nothing of it has a price.</p>}
        />
      )}
      <Facts
        facts={[
          ...(charge.sum === null ? [] : [['Sum', `${charge.sum} credits`] as const]),
          ...(charge.byok_fee_percent === null
            ? []
            : [
                [
                  'Fee',
                  `${charge.byok_fee_percent} % of ${charge.rounded ?? 0}, rounded up`,
                ] as const,
              ]),
          ...(charge.shortfall > 0
            ? [['Not covered', <Credits key="shortfall" value={charge.shortfall} />] as const]
            : []),
          ['Cost', <Credits key="cost" value={charge.cost} />],
          ...charge.refunds.map(
            (refund) => ['Refund', <Credits key="refund" value={refund.amount} />] as const,
          ),
          ['Paid', <Credits key="net" value={charge.net} />],
        ]}
      />
      <h3>Signed (JWS)</h3>
      <Code text={jws} label="The signed receipt" />
      <p className="muted">
        The keys to check it with are at <a href="/.well-known/jwks.json">/.well-known/jwks.json</a>
        .
      </p>
    </>
  );
}

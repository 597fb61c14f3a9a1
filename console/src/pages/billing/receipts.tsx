import { useState, type ReactNode } from 'react';
import { download } from '../../api/download';
import type { components } from '../../api/schema';
import { ReceiptArithmetic, useReceipt } from '../../requests/receipt';
import { useFilters } from '../../shell/use-filters';
import {
  ActionButton,
  Badge,
  Button,
  Card,
  Code,
  Drawer,
  Facts,
  QueryState,
  TextField,
  Time,
} from '../../ui';

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
        <TextField
          label="Request"
          hint="The x-request-id of its answer."
          required
          value={id}
          placeholder="00000000-0000-0000-0000-000000000000"
          onChange={setId}
        />
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
  const receipt = useReceipt(requestId);
  return (
    <Drawer title="Receipt" onClose={onClose}>
      <QueryState query={receipt}>{(signed) => <ReceiptView {...signed} />}</QueryState>
    </Drawer>
  );
}

function ReceiptView({ receipt, jws }: components['schemas']['SignedReceipt']): ReactNode {
  const { request, answer } = receipt;
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
          ...(answer.traffic_mode === 'byok' ? [['Account', 'your own'] as const] : []),
        ]}
      />
      <ReceiptArithmetic receipt={receipt} />
      <div className="row row-apart">
        <h3>Signed (JWS)</h3>
        <ActionButton
          action={() =>
            download(`/v1/customer/receipts/${request.id}`, { name: `receipt-${request.id}.json` })
          }
        >
          Download
        </ActionButton>
      </div>
      <Code text={jws} label="The signed receipt" />
      <details>
        <summary>How to check it</summary>
        <p className="muted">
          Anybody can, without asking the gateway: the signature by the public keys, and the sum by
          the lines above. With the two scripts that lie in the gateway’s <code>docs</code>:
        </p>
        <Code text={checkCommands(request.id)} label="Commands that check the receipt" />
      </details>
    </>
  );
}

/** Checks the receipt that was downloaded: the signature, then the sum. */
function checkCommands(requestId: string): string {
  return [
    `curl -o jwks.json ${window.location.origin}/.well-known/jwks.json`,
    `node docs/check-receipt.mjs receipt-${requestId}.json jwks.json | node docs/recompute-receipt.mjs`,
  ].join('\n');
}

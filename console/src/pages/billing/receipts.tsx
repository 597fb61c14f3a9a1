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

/** Finds a receipt by request id. */
export function Receipts(): ReactNode {
  const [, setFilters] = useFilters(['receipt']);
  const [id, setId] = useState('');
  return (
    <Card title="Find a receipt">
      <p className="muted">
        A receipt shows how the cost of a request was calculated. It is signed and can be verified
        offline. Ledger entries and requests link to their receipts.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          setFilters({ receipt: id.trim() });
        }}
      >
        <TextField
          label="Request id"
          hint="The x-request-id response header."
          required
          value={id}
          placeholder="00000000-0000-0000-0000-000000000000"
          onChange={setId}
        />
        <div className="row">
          <Button variant="primary" type="submit">
            Show receipt
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
          ...(answer.traffic_mode === 'byok' ? [['Account', 'BYOK'] as const] : []),
        ]}
      />
      <ReceiptArithmetic receipt={receipt} />
      <div className="row row-apart">
        <h3>Signature (JWS)</h3>
        <ActionButton
          action={() =>
            download(`/v1/customer/receipts/${request.id}`, { name: `receipt-${request.id}.json` })
          }
        >
          Download receipt
        </ActionButton>
      </div>
      <Code text={jws} label="Signed receipt" />
      <details>
        <summary>Verify this receipt</summary>
        <p className="muted">
          Anyone can verify the signature with the public keys and recompute the sum from the lines
          above. Use the two scripts in the <code>docs</code> folder of the gateway:
        </p>
        <Code text={checkCommands(request.id)} label="Verification commands" />
      </details>
    </>
  );
}

/** Returns commands that verify the signature and recompute the sum of a downloaded receipt. */
function checkCommands(requestId: string): string {
  return [
    `curl -o jwks.json ${window.location.origin}/.well-known/jwks.json`,
    `node docs/check-receipt.mjs receipt-${requestId}.json jwks.json | node docs/recompute-receipt.mjs`,
  ].join('\n');
}

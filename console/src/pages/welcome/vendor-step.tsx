import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { Notice, SelectField } from '../../ui';
import { OwnAccount } from './own-account';
import { SharedProvider } from './shared-provider';

/** A key to a vendor: for everybody, where an operator adds it, or for this tenant alone. */
export function VendorStep({ isDone }: { isDone: boolean }): ReactNode {
  const { can, tenant } = useSession();
  const mayShare = can('operator:write');
  const mayOwn = can('own');
  const [whose, setWhose] = useState(mayShare ? 'all' : 'own');
  return (
    <>
      <p>
        With a vendor&apos;s key the gateway calls real models. It is tried by a real call that
        costs nothing before it is stored, encrypted, and it is never shown again.
      </p>
      {isDone && (
        <Notice tone="good">
          <span>
            Vendors are connected already: see the <Link to="/models">models</Link>. Another key is
            added in the same way.
          </span>
        </Notice>
      )}
      {mayShare && mayOwn && (
        <SelectField
          label="For whom"
          value={whose}
          options={[
            ['all', 'All tenants: they pay by credits'],
            ['own', `${tenant?.name ?? ''} alone: the vendor bills its own account`],
          ]}
          onChange={setWhose}
        />
      )}
      {whose === 'all' && mayShare && <SharedProvider />}
      {whose === 'own' && mayOwn && <OwnAccount />}
      {!mayShare && !mayOwn && (
        <Notice tone="info">
          An owner of the tenant or the operator can add a vendor&apos;s key.
        </Notice>
      )}
    </>
  );
}

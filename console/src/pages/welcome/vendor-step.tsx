import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { Notice, SelectField } from '../../ui';
import { OwnAccount } from './own-account';
import { SharedProvider } from './shared-provider';

/** Adds a vendor key, for all tenants or for this one, depending on the viewer's rights. */
export function VendorStep({ isDone }: { isDone: boolean }): ReactNode {
  const { can, tenant } = useSession();
  const mayShare = can('operator:write');
  const mayOwn = can('own');
  const [audience, setAudience] = useState(mayShare ? 'all' : 'own');
  return (
    <>
      <p>
        Connect a vendor to call real models. The gateway verifies the key with a free call, stores
        it encrypted and never shows it again.
      </p>
      {isDone && (
        <Notice tone="good">
          <span>
            Vendors are already connected, see <Link to="/models">Models</Link>. You can add another
            one.
          </span>
        </Notice>
      )}
      {mayShare && mayOwn && (
        <SelectField
          label="Available to"
          value={audience}
          options={[
            ['all', 'All tenants (charged in credits)'],
            ['own', `Only ${tenant?.name ?? ''} (billed by the vendor)`],
          ]}
          onChange={setAudience}
        />
      )}
      {audience === 'all' && mayShare && <SharedProvider />}
      {audience === 'own' && mayOwn && <OwnAccount />}
      {!mayShare && !mayOwn && (
        <Notice tone="info">Ask an owner of the tenant or the operator to add a vendor key.</Notice>
      )}
    </>
  );
}

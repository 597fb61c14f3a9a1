import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { AuditList } from '../../parts/audit-list';
import { Page } from '../../ui';

/** The tenant's audit log. */
export function AuditPage(): ReactNode {
  return (
    <Page
      title="Audit log"
      description="All changes to this tenant, by people, keys and the operator. Entries cannot be edited or deleted."
    >
      <AuditList
        queryKey="audit-log"
        exportPath="/v1/customer/audit-log/export"
        read={(query, signal) => api.GET('/v1/customer/audit-log', { params: { query }, signal })}
      />
    </Page>
  );
}

import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { AuditList } from '../../parts/audit-list';
import { Page } from '../../ui';

/** Every change of the tenant's account. */
export function AuditPage(): ReactNode {
  return (
    <Page
      title="Audit"
      description="Every change of your account, whoever made it. Nothing can be changed or taken away here."
    >
      <AuditList
        queryKey="audit-log"
        exportPath="/v1/customer/audit-log/export"
        read={(query, signal) => api.GET('/v1/customer/audit-log', { params: { query }, signal })}
      />
    </Page>
  );
}

import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { AuditList } from '../../parts/audit-list';
import { Page } from '../../ui';

/** Every change by anybody, of all tenants and of the service. */
export function OperatorAuditPage(): ReactNode {
  return (
    <Page
      title="Audit"
      description="Every change by anybody, of all tenants and of the service. Nothing can be changed or taken away here."
    >
      <AuditList
        queryKey="admin"
        isOverTenants
        exportPath="/v1/admin/audit-log/export"
        read={(query, signal) => api.GET('/v1/admin/audit-log', { params: { query }, signal })}
      />
    </Page>
  );
}

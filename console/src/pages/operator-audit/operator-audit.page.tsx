import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { AuditList } from '../../parts/audit-list';
import { Page } from '../../ui';

/** The audit log of all tenants and the service. */
export function OperatorAuditPage(): ReactNode {
  return (
    <Page
      title="Audit log"
      description="All changes to tenants and the service, by anyone. Entries cannot be edited or deleted."
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

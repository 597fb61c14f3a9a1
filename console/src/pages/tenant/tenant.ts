import type { components } from '../../api/schema';

export type Tenant = components['schemas']['Tenant'];
export type TenantKey = components['schemas']['TenantKey'];

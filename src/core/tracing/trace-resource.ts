import type { Attributes } from '@opentelemetry/api';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';

const SERVICE_NAME = 'model-gateway';

/** Who made the spans. */
export const TRACE_SCOPE = { name: SERVICE_NAME };

/** The service as the tenants' collectors see it: nothing of the machine that it runs on. */
export const TENANT_RESOURCE: Resource = serviceResource({});

export function serviceResource(attributes: Attributes): Resource {
  return resourceFromAttributes({ 'service.name': SERVICE_NAME, ...attributes });
}

import type { WorkKind } from '../canonical/work-request.js';
import type { ProviderConfig } from '../platform/config/app-config.js';
import type { VendorSettings } from '../platform/config/vendor-settings.js';
import type { OwnAccountForm } from './own-account-form.js';
import type { HttpTransport } from './transport/http-transport.js';
import type { MediaFetcher } from './transport/media-fetcher.js';
import type { Upstream } from './upstream.js';

/** What adapters are built with, beside the provider's settings. */
export interface AdapterTools {
  readonly transport: HttpTransport;
  /** Fetches callers' images and documents, for vendors that take no URLs. */
  readonly mediaFetcher: MediaFetcher;
}

/** What a vendor can do: the kinds that models of the catalogue have. */
export const VENDOR_KINDS = [
  'chat',
  'embedding',
  'speech',
  'transcription',
  'image',
  'video',
] as const satisfies readonly ('chat' | WorkKind)[];
export type VendorKind = (typeof VENDOR_KINDS)[number];

/**
 * All that there is to know of a vendor, beside its models and their prices. Each is a folder that
 * exports one of these, and a line in `vendors.ts`.
 */
export interface Vendor<Env extends object = object> extends VendorSettings<Env> {
  readonly kinds: readonly [VendorKind, ...VendorKind[]];
  /** What tenants tell of accounts of their own; absent: they can have none. */
  readonly accountForm?: OwnAccountForm;
  /** What the semantic conventions of OpenTelemetry call it, where that is not its id. */
  readonly telemetryName?: string;
  createAdapter(provider: ProviderConfig, tools: AdapterTools): Upstream;
}

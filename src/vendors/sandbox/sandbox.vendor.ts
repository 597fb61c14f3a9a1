import type { Vendor } from '../vendor.js';
import { SandboxAdapter } from './sandbox.adapter.js';

/** Part of the gateway: it has no address, account or variables. */
export const sandbox: Vendor = {
  id: 'sandbox',
  name: 'Sandbox',
  type: 'openai',
  kinds: ['chat', 'embedding', 'speech', 'transcription', 'image', 'video'],
  isStandIn: true,
  baseUrl: () => '',
  account: () => ({ apiKey: undefined }),
  createAdapter: () => new SandboxAdapter(),
};

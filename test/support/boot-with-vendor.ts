import { bootGateway, type BootedGateway } from './boot-gateway.js';
import { startFakeOpenAi, type FakeOpenAi } from './fake-openai.js';
import { writeOperatorFiles } from './operator-files.js';

export interface VendorSetUp {
  fake: FakeOpenAi;
  gateway: BootedGateway;
  close(): Promise<void>;
}

/** Short, so that tests can wait for a silent vendor to time out. */
export const IDLE_MS = 600;

/**
 * Boots the service with one vendor and its only model, `one/a`.
 *
 * @param pricing further prices, besides 1 credit per prompt token and 2 per completion token
 * @param environment more settings
 */
export async function bootWithVendor(
  pricing: Record<string, string> = {},
  environment: Record<string, string> = {},
): Promise<VendorSetUp> {
  const fake = await startFakeOpenAi();
  const files = await writeOperatorFiles({ one: fake.baseUrl }, [
    { id: 'one/a', pricing: { prompt: '0.000001', completion: '0.000002', ...pricing } },
  ]);
  const gateway = await bootGateway({
    ...files.environment,
    GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    GATEWAY_IDLE_TIMEOUT_MS: String(IDLE_MS),
    // A failure in one case must not pause the route for the next.
    GATEWAY_COOLDOWN_MS: '1',
    ...environment,
  });
  return {
    fake,
    gateway,
    async close() {
      await gateway.close();
      await fake.close();
      await files.remove();
    },
  };
}

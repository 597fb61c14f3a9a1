import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { ProviderUnavailableError } from '../../platform/errors/gateway-errors.js';
import { ByokCredential } from '../credentials/credential.repository.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { readAllowance } from '../../vendors/account-allowance.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import { selectRoutes } from './select-routes.js';
import { NOTHING_PARTICULAR, gpt, claude, select } from '../../../test/support/route-selection.js';

describe(selectRoutes.name, () => {
  describe('with BYOK accounts', () => {
    const own = (
      provider: string,
      {
        id = `own ${provider}`,
        allowSharedFallback = false,
        hasTenantAddress = false,
        scopeKeyId = null as string | null,
        weight = 0,
      } = {},
    ): ByokAccess => ({
      credential: new ByokCredential({
        id,
        provider,
        allowSharedFallback,
        scopeKeyId,
        settings: {},
        encryptedKey: Buffer.from('signed'),
      }),
      hasTenantAddress,
      ...(weight > 0 && {
        member: {
          key: id,
          weight,
          requestsPerMinute: undefined,
          tokensPerMinute: undefined,
          readAllowance,
        },
      }),
    });
    const waysOf = (...rest: Parameters<typeof select>) =>
      select(...rest).map(
        (route) => `${route.trafficMode} ${route.byok?.credential.id ?? route.provider}`,
      );
    const both = { provider: { order: ['openai'] } };

    it('puts an account before its provider’s shared capacity, if that may follow', () => {
      const allowing = own('openai', { allowSharedFallback: true });
      expect(waysOf(both, { byok: [allowing] }, [gpt])).toEqual([
        'byok own openai',
        'shared openai',
        'shared azure',
      ]);
      expect(waysOf({}, { byok: [own('azure', { allowSharedFallback: true })] }, [gpt])).toEqual([
        'shared openai',
        'byok own azure',
        'shared azure',
      ]);
    });

    it('excludes shared capacity after an account that does not allow it, but keeps other models', () => {
      expect(waysOf({}, { byok: [own('openai')] }, [gpt, claude])).toEqual([
        'byok own openai',
        'shared anthropic',
        'shared bedrock',
        'shared vertex',
      ]);
    });

    it('does not fall back to shared capacity when a BYOK account is paused', () => {
      const situation = { byok: [own('openai')], paused: ['openai'] };
      expect(() => select({}, situation, [gpt])).toThrow(ProviderUnavailableError);
    });

    it('still lets the caller choose another provider’s shared capacity', () => {
      const chosen = { provider: { only: ['azure'] } };
      expect(waysOf(chosen, { byok: [own('openai')] }, [gpt])).toEqual(['shared azure']);
    });

    it('tries several accounts in order, then shared capacity if all allow it', () => {
      const [newer, older] = [
        own('openai', { id: 'newer', allowSharedFallback: true }),
        own('openai', { id: 'older' }),
      ];
      expect(waysOf({}, { byok: [newer, older] }, [gpt])).toEqual(['byok newer', 'byok older']);
    });

    it('balances the accounts of a pool, and keeps the others apart', () => {
      const pooled = [
        own('openai', { id: 'a', weight: 2 }),
        own('openai', { id: 'b', weight: 3 }),
        own('openai', { id: 'c', scopeKeyId: 'key' }),
      ];
      const byok = [...pooled, own('azure', { id: 'd' })];
      const request = chatRequest({});
      const asked: (string | undefined)[] = [];
      const routes = selectRoutes(request, [gpt], {
        ...NOTHING_PARTICULAR,
        byok,
        preferredAccount: (ways) => {
          expect(ways.map(({ pooled: { member } }) => [member.key, member.weight])).toEqual([
            ['a', 2],
            ['b', 3],
          ]);
          return 'b';
        },
        pools: {
          order: (ways, preferred) => {
            asked.push(preferred);
            return [...ways].reverse();
          },
          waitMs: () => 0,
          expectedTokens: () => 100,
        },
      });
      expect(asked).toEqual(['b']);
      expect(
        routes.map(({ byok: account, pooled: part }) => [account?.credential.id, part?.tokens]),
      ).toEqual([
        ['b', 100 + estimateTokens(request.promptSize.characters)],
        ['a', 100 + estimateTokens(request.promptSize.characters)],
        ['c', undefined],
        ['d', undefined],
      ]);
      expect(routes.every(({ trafficMode }) => trafficMode === 'byok')).toBe(true);
    });

    it('serves providers that the operator has not configured', () => {
      const situation = { unconfigured: ['openai', 'azure'], byok: [own('azure')] };
      expect(waysOf({}, situation, [gpt])).toEqual(['byok own azure']);
    });

    it('sorts by the charge, which is the fee', () => {
      const situation = { byok: [own('azure', { allowSharedFallback: true })] };
      expect(waysOf({ route: 'sort' }, situation, [gpt])[0]).toBe('byok own azure');
    });

    it('sends fields that shared capacity rejects to BYOK accounts only', () => {
      const bound = { service_tier: 'priority' };
      expect(waysOf(bound, { byok: [own('azure', { allowSharedFallback: true })] }, [gpt])).toEqual(
        ['byok own azure'],
      );
      // Even in cooldown: shared capacity is no alternative.
      const cooling = { byok: [own('azure')], cooling: ['azure'] };
      expect(waysOf(bound, cooling, [gpt])).toEqual(['byok own azure']);
      expect(() => select(bound, {}, [gpt])).toThrow(
        expect.objectContaining({ status: 400, param: 'service_tier' }),
      );
    });
  });
});

import { describe, expect, it, jest } from '@jest/globals';
import { loadSettings } from '../../app/load-settings.js';
import {
  archiveProblems,
  CHANGEABLE_SETTINGS,
  LiveSettings,
  normalSettings,
  problemsOfSettings,
} from './live-settings.js';

const provider = (id: string) => ({
  id,
  name: id,
  adapter: 'openai',
  type: 'openai' as const,
  baseUrl: 'http://127.0.0.1:1/v1',
  apiKey: 'vendor-key-1',
  settings: {},
});

describe(LiveSettings.name, () => {
  it('changes live settings in the shared object and notifies listeners', () => {
    const live = new LiveSettings(loadSettings({}));
    const { config } = live;
    const listener = jest.fn();
    live.onChange(listener);
    live.use({ GATEWAY_COOLDOWN_MS: 7, LOG_LEVEL: 'warn', GATEWAY_BYOK_FEE_PERCENT: 9 }, []);
    expect(config.limits.cooldownMs).toBe(7);
    expect([config.log.level, config.byokFeePercent]).toEqual(['warn', 9]);
    expect(listener).toHaveBeenCalledTimes(1);
    live.use({}, []);
    expect(config.limits.cooldownMs).toBe(10_000);
    expect([config.log.level, config.byokFeePercent]).toEqual(['info', 5]);
  });

  it('keeps settings declared by variables and reports those that differ', () => {
    const live = new LiveSettings(
      loadSettings({ GATEWAY_COOLDOWN_MS: '5', GATEWAY_JOB_POLL_MS: '20' }),
    );
    live.use({ GATEWAY_COOLDOWN_MS: 7, GATEWAY_JOB_POLL_MS: 20, LOG_LEVEL: 'error' }, []);
    expect(live.config.limits.cooldownMs).toBe(5);
    expect(live.config.log.level).toBe('error');
    expect([...live.overridden]).toEqual(['GATEWAY_COOLDOWN_MS']);
  });

  it('adds providers after the initial ones, and offers them to tenants', () => {
    const live = new LiveSettings(loadSettings({ OPENAI_API_KEY: 'sk-1234567890' }));
    live.use({}, [provider('mine'), provider('openai')]);
    const { config } = live;
    expect(config.providers.map(({ id }) => id)).toEqual(['openai', 'mine']);
    const offer = config.ownAccountProviders.at(-1);
    expect(offer).toMatchObject({ id: 'mine', apiKey: undefined });
    const before = config.ownAccountProviders;
    live.use({}, [provider('mine')]);
    expect(config.ownAccountProviders).toBe(before);
    live.use({}, []);
    expect(config.providers.map(({ id }) => id)).toEqual(['openai']);
  });
});

describe(problemsOfSettings.name, () => {
  const config = loadSettings({});
  it.each([
    [{ GATEWAY_COOLDOWN_MS: 7, LOG_LEVEL: 'warn' }, []],
    [{ GATEWAY_COOLDOWN_MS: -1 }, [/^GATEWAY_COOLDOWN_MS must be an integer/]],
    [{ GATEWAY_COOLDOWN_MS: 1.5 }, [/^GATEWAY_COOLDOWN_MS must be/]],
    [{ GATEWAY_REQUEST_LOG: 'loud' }, [/^GATEWAY_REQUEST_LOG must be stdout or off/]],
    [{ DATABASE_URL: 'postgres://x' }, [/^DATABASE_URL cannot change while the service runs/]],
    [{ __proto__x: 'x' }, [/cannot change while the service runs/]],
  ])('of %j', (settings, problems) => {
    expect(problemsOfSettings(settings, config)).toEqual(
      problems.map((problem) => expect.stringMatching(problem)),
    );
  });

  it('checks them together with the settings that cannot change', () => {
    const archiving = { ...config, logArchiveAfterDays: 40 };
    expect(problemsOfSettings({ GATEWAY_LOG_RETENTION_DAYS: 30 }, archiving)).toHaveLength(1);
    expect(problemsOfSettings({ GATEWAY_LOG_RETENTION_DAYS: 90 }, archiving)).toEqual([]);
    const jobs = { deadlineSeconds: 40 * 86_400, artifactTtlSeconds: 1 };
    expect(archiveProblems({ archiveAfterDays: 40, jobs, logRetentionDays: 0 })).toHaveLength(1);
  });

  it('accepts only settings that are safe to change', () => {
    const dangerous =
      /PORT|HOST|URL|SECRET|KEY|TOKEN|DIR|FILE|CATALOGUE|PROVIDERS|WORKERS|BOOTSTRAP/;
    expect(CHANGEABLE_SETTINGS.filter((name) => dangerous.test(name))).toEqual([]);
    expect(CHANGEABLE_SETTINGS.length).toBeGreaterThan(10);
  });
});

describe(normalSettings.name, () => {
  it('converts digits to numbers and words to lower case', () => {
    expect(normalSettings({ LOG_LEVEL: 'WARN', GATEWAY_COOLDOWN_MS: '07' })).toEqual({
      LOG_LEVEL: 'warn',
      GATEWAY_COOLDOWN_MS: 7,
    });
  });
});

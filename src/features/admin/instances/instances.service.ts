import { Injectable } from '@nestjs/common';
import { InstanceService, type LivingInstance } from '../../../core/ledger/instance.service.js';
import { WorkEngine } from '../../../platform/durable-work/work-engine.js';
import {
  INSTANCE_PARTS,
  type InstanceDto,
  type InstanceListDto,
  type InstancePart,
} from './instances.dto.js';

/** Compares the instances that share the database. */
@Injectable()
export class InstancesAdmin {
  constructor(
    private readonly instances: InstanceService,
    private readonly work: WorkEngine,
  ) {}

  async list(): Promise<InstanceListDto> {
    const [living, queue] = await Promise.all([this.instances.living(), this.depths()]);
    const usual = majorities(living);
    const nowMs = Date.now();
    const data = living.map((each) => toInstance(each, usual, nowMs, this.instances.id));
    return { object: 'list', data, has_more: false, next_cursor: null, queue };
  }

  private async depths(): Promise<InstanceListDto['queue']> {
    try {
      const depths = Object.entries(await this.work.depths());
      return depths.map(([topic, { waiting, delayed, active = 0 }]) => ({
        topic,
        depth: { waiting, delayed, active },
      }));
    } catch {
      // The other fields are most useful during an outage.
      return null;
    }
  }
}

/**
 * Returns the most common value among instances that report one. The oldest instance breaks ties.
 */
function majorities(
  living: readonly Pick<LivingInstance, 'facts'>[],
): ReadonlyMap<InstancePart, string> {
  const usual = new Map<InstancePart, string>();
  for (const part of INSTANCE_PARTS) {
    const counts = new Map<string, number>();
    for (const { facts } of living) {
      const value = factOf(facts, part);
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const [most] = [...counts].sort(([, one], [, other]) => other - one);
    if (most) usual.set(part, most[0]);
  }
  return usual;
}

function factOf(facts: LivingInstance['facts'], part: InstancePart): string | null {
  const known: Readonly<Record<string, unknown>> = { ...facts };
  const value = known[part];
  return typeof value === 'string' ? value : null;
}

function toInstance(
  { id, startedAt, heartbeatAt, facts, live }: LivingInstance,
  usual: ReadonlyMap<InstancePart, string>,
  nowMs: number,
  ownId: string,
): InstanceDto {
  return {
    id,
    is_self: id === ownId,
    role: facts.role ?? null,
    version: facts.version ?? null,
    host: facts.host ?? null,
    pid: facts.pid ?? null,
    started_at: startedAt.toISOString(),
    uptime_seconds: Math.max(0, Math.floor((nowMs - startedAt.getTime()) / 1_000)),
    heartbeat_at: heartbeatAt.toISOString(),
    schema: facts.schema ?? null,
    secret: facts.secret ?? null,
    catalogue: facts.catalogue ?? null,
    config: factOf(facts, 'config'),
    artifacts: facts.artifacts ?? null,
    differs: INSTANCE_PARTS.filter((part) => {
      const own = factOf(facts, part);
      return own !== null && own !== usual.get(part);
    }),
    requests_in_flight: live.requests_in_flight ?? null,
    pending_settlements: live.pending_settlements ?? null,
    recent: live.recent ?? null,
    routes: [...(live.routes ?? [])],
    more_routes: live.more_routes ?? 0,
    hedging: live.hedging ?? null,
  };
}

import type { Server } from 'node:http';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost, ModuleRef, type AbstractHttpAdapter } from '@nestjs/core';
import { LedgerService } from '../core/ledger/ledger.service.js';
import { ServerDrain } from '../platform/http/server-drain.js';
import { IdleMemory } from './process/idle-memory.js';
import { WorkEngine } from '../platform/durable-work/work-engine.js';
import { ServiceStop } from '../platform/time/service-stop.js';

/**
 * Lets requests and background work end, up to the drain limit, before anything else stops. It is in
 * the root module, whose hooks Nest calls first. Then each part stops before those it depends on:
 * producers of settlements and traces on `onModuleDestroy`, their writers on
 * `beforeApplicationShutdown`, and owners of connections on `onApplicationShutdown`.
 */
@Injectable()
export class ServiceDrain implements OnModuleInit, OnModuleDestroy {
  private server: ServerDrain | undefined;
  private memory: IdleMemory | undefined;

  constructor(
    private readonly host: HttpAdapterHost<AbstractHttpAdapter<Server>>,
    private readonly work: WorkEngine,
    private readonly stop: ServiceStop,
    private readonly modules: ModuleRef,
  ) {}

  onModuleInit(): void {
    const server = this.host.httpAdapter.getHttpServer();
    this.server = new ServerDrain(server);
    this.memory = new IdleMemory(server);
  }

  /** Collects the garbage of the start in a quiet moment. */
  settleIn(): void {
    this.memory?.collectAfterStart();
  }

  /** Keeps serving for the lame duck period, in which load balancers stop sending requests. */
  async announce(): Promise<void> {
    this.server?.announce();
    await this.stop.announce();
  }

  async onModuleDestroy(): Promise<void> {
    this.memory?.stop();
    const { leftMs } = this.stop;
    // Answers that only wait for their commit can still be delivered.
    const ledger = this.modules.get(LedgerService, { strict: false });
    const drained = this.server?.drain(leftMs, () => ledger.endWaits());
    await Promise.all([drained, this.work.drain(leftMs)]);
  }
}

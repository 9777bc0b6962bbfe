// The outbox: what a teacher did is stored until the service acknowledged it, and sent in order.
//
// All requests are idempotent, so each may be sent again.

import { call, lessonPath, Unreachable } from "./api.js";
import { keep, recall } from "./memory.js";

const SLOWEST_SECONDS = 15;

function request(item) {
  const round = `${lessonPath}/rounds/${item.round}`;
  if (item.kind === "described") {
    return call("PUT", `${round}/description?effect=true`, { description: item.description, ...item.answer });
  }
  if (item.kind === "withdrawn") return call("DELETE", `${round}/description`);
  return call("PUT", `${round}/outcome`, { outcome: item.kind });
}

export class Outbox {
  // `answered(item, result)` is called with each answer, `trouble(says)` when the service is away,
  // and `drained()` when the outbox is empty.
  constructor({ answered, trouble, drained }) {
    this.answered = answered;
    this.trouble = trouble;
    this.drained = drained;
    this.failures = 0;
    this.timer = null;
    this.sending = Promise.resolve();
    addEventListener("online", () => this.send());
  }

  get items() {
    return recall("outbox", []);
  }

  set items(items) {
    keep("outbox", items);
  }

  add(item) {
    const id = `${Date.now()}-${Math.random()}`;
    this.items = [...this.items, { ...item, id, tried: false }];
    return this.send();
  }

  // Remove items of a round that were never sent; whether others may have reached the service.
  takeOut(round) {
    this.items = this.items.filter((item) => item.round !== round || item.tried);
    return this.items.some((item) => item.round === round);
  }

  // One sender at a time, also among several tabs.
  send() {
    const once = () =>
      navigator.locks
        ? navigator.locks.request(`outbox of ${lessonPath}`, () => this.sendAll())
        : this.sendAll();
    this.sending = this.sending.then(once, once);
    return this.sending;
  }

  async sendAll() {
    clearTimeout(this.timer);
    for (let [item] = this.items; item; [item] = this.items) {
      const { id } = item;
      this.items = this.items.map((one) => (one.id === id ? { ...one, tried: true } : one));
      let result;
      try {
        result = await request(item);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.trouble(error.message);
        this.later(error.wait);
        return;
      }
      this.failures = 0;
      this.items = this.items.filter((one) => one.id !== id);
      this.answered(item, result);
    }
    this.drained();
  }

  later(wait) {
    const backOff = Math.min(SLOWEST_SECONDS, 2 ** this.failures++);
    this.timer = setTimeout(() => this.send(), 1000 * Math.max(wait, backOff));
  }
}

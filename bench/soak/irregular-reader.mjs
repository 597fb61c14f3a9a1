/** Reads a short response and can disconnect after a number of events. Never rejects. */
export class OddReader {
  status;
  requestId;
  text = '';
  failure;
  hasLeft = false;
  /** True when the response ended without being aborted. */
  isComplete = false;
  #leaveAfterEvents;
  #resolve;

  constructor(leaveAfterEvents) {
    this.#leaveAfterEvents = leaveAfterEvents;
    this.done = new Promise((resolve) => (this.#resolve = resolve));
  }

  onRequestStart() {}

  onResponseStart(_controller, status, headers) {
    this.status = status;
    this.requestId = headers['x-request-id'];
  }

  onResponseData(controller, chunk) {
    this.text += chunk.toString('latin1');
    if (this.text.split('\n\n').length - 1 < this.#leaveAfterEvents || this.hasLeft) return;
    this.hasLeft = true;
    controller.abort(new Error('The caller disconnects.'));
  }

  onResponseEnd() {
    this.isComplete = true;
    this.#resolve();
  }

  onResponseError(_controller, error) {
    this.failure = `${error.code ?? error.name}: ${error.message}`;
    this.#resolve();
  }
}

// @ts-check
/** Waiting: the one way in which a part of the page waits for an answer and then takes it. */

/**
 * Work whose answer is taken only while it is wanted. It is not once newer work was begun here,
 * once it was dropped, or once what it was begun for has changed: then the answer would be
 * written into something that it is not about.
 */
export class Latest {
  #about;
  #turn = 0;

  /** @param {() => unknown} about tells what work that begins now is for; compared by identity */
  constructor(about) {
    this.#about = about;
  }

  /**
   * Do the work, then take its answer or say why there is none, unless nobody wants it any more.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @param {(answer: T) => void} take
   * @param {(error: unknown) => void} refuse
   * @returns {Promise<boolean>} whether it was still wanted
   */
  async run(work, take, refuse) {
    this.drop();
    const turn = this.#turn;
    const about = this.#about();
    const wanted = () => turn === this.#turn && about === this.#about();
    let answer;
    try {
      answer = await work();
    } catch (error) {
      if (!wanted()) return false;
      refuse(error);
      return true;
    }
    if (!wanted()) return false;
    take(answer);
    return true;
  }

  /** Take no answer of what is under way. */
  drop() {
    this.#turn += 1;
  }
}

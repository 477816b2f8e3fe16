package org.heterodoop.mr;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.Progressable;

/** Progress on the way to RUN, such as the hashing of large files: Hadoop hears of it, and the driver, which keeps the lease. */
final class KeepAlive implements Progressable {
  private final Progressable task;
  private final Connection driver;
  private final long everyNanos;
  private long last = System.nanoTime();

  KeepAlive(Progressable task, Connection driver, long everyMs) {
    this.task = task;
    this.driver = driver;
    this.everyNanos = TimeUnit.MILLISECONDS.toNanos(everyMs);
  }

  @Override
  public void progress() {
    task.progress();
    long now = System.nanoTime();
    if (now - last >= everyNanos) {
      last = now;
      driver.sendIfItTakesIt(Frame.WAIT, new Fields());  // a driver that is gone shows when RUN is sent
    }
  }
}

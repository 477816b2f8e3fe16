package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Until RUN the driver hears that the attempt is at work, but not with every piece of a file. */
class KeepAliveTest {
  @TempDir
  Path folder;

  private static JobConf job(Path driver) {
    JobConf job = new JobConf();
    job.set(Settings.DRIVER_DIR, driver.toString());
    return job;
  }

  @Test
  void theDriverHearsOfProgressNowAndThen() throws Exception {
    AtomicInteger progress = new AtomicInteger();
    try (FakeDriver driver = new FakeDriver(folder.resolve("driver"), talk -> {
      talk.expect(Frame.WAIT);
      talk.expect(Frame.WAIT);
      talk.expect(Frame.RUN);
      talk.hear("RUN");
    }); Connection connection = new DriverSocket(job(driver.folder), null).open()) {
      KeepAlive often = new KeepAlive(progress::incrementAndGet, connection, 0);
      often.progress();
      often.progress();
      KeepAlive rarely = new KeepAlive(progress::incrementAndGet, connection, 60_000);
      rarely.progress();
      rarely.progress();
      connection.send(Frame.RUN, new Fields());
      driver.await("RUN");
    }
    assertEquals(4, progress.get());
  }
}

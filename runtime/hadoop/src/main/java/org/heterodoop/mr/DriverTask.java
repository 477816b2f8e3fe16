package org.heterodoop.mr;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task;

/**
 * One map task at the driver, from RUN to RESULT: gives the driver what it asks for, and Hadoop the progress.
 *
 * <p>Not here: the bytes of the result (ResultTarget), what happens when this fails (MapAttempt).
 */
final class DriverTask {
  private static final long STATUS_EVERY_MS = 1_000;
  private static final long WAIT_EVERY_MS = 2_000;

  private final Connection driver;
  private final JobConf job;
  private final FileSplit split;
  private final String side;
  private final Reporter reporter;
  private final long started = System.nanoTime();
  private boolean waiting;
  private long waitMs;
  private String status = "";
  private long statusAt;

  DriverTask(Connection driver, JobConf job, FileSplit split, boolean onHost, Reporter reporter) {
    side = onHost ? "host kernel" : "GPU";
    this.driver = driver;
    this.job = job;
    this.split = split;
    this.reporter = reporter;
  }

  /**
   * Returns when the driver announces a result, whose bytes come next. `ahead` is the place in the queue that the answer
   * named, `waits`: it said that the driver knows WAIT. Raises RefusedException when the driver gives the task back.
   */
  MapResult run(long ahead, boolean waits) throws IOException {
    LocalizedFiles files = new LocalizedFiles(job);
    Fields fields = new Fields();
    ChildEnvironment.addTo(fields, job);
    files.addTo(fields, job, waits ? new KeepAlive(reporter, driver, WAIT_EVERY_MS) : reporter);
    driver.send(Frame.RUN, fields);
    show(ahead > 0 ? "waiting for " + side + ", " + ahead + " ahead" : side + ": starting", true);
    try (SplitReader reader = new SplitReader(split, job)) {
      for (;;) {
        Frame frame = driver.receive();
        reporter.progress();
        if (frame.type == Frame.RESULT) {
          return new MapResult(frame.fields(), job.getNumReduceTasks() == 0);
        }
        serve(frame, files, reader);
      }
    }
  }

  private void serve(Frame frame, LocalizedFiles files, SplitReader reader) throws IOException {
    Fields fields = frame.fields();
    switch (frame.type) {
      case Frame.PROGRESS:
        progress(fields);
        return;
      case Frame.NEED:
        for (String name : fields.texts("name")) {
          try (InputStream in = Files.newInputStream(files.file(name))) {
            DataFrames.send(driver, in, Long.MAX_VALUE);
          }
          reporter.progress();
        }
        return;
      case Frame.READ:
        reader.send(driver, fields.has("part") ? fields.number("part") : 0, fields.number("offset"), fields.number("length"));
        return;
      case Frame.REFUSED:
        throw new RefusedException(fields.text("reason"), fields.text("code"));
      default:
        throw new ProtocolException("the driver sent a message of type " + frame.type + " before the result");
    }
  }

  private void progress(Fields fields) throws IOException {
    waiting = fields.has("ahead");
    if (waiting) {
      waitMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
      if (waitMs > job.getLong(Settings.WAIT_MAX_MS, Settings.WAIT_MAX_MS_DEFAULT)) {
        throw new PatienceException(PatienceException.QUEUE, "waited for a " + side + " for " + waitMs / 1000 + " s");
      }
    } else if (fields.has("fraction")) {
      setFraction(fields.text("fraction"));
    }
    show(waiting ? "waiting for " + side + ", " + fields.number("ahead") + " ahead" : side + ": " + fields.text("text"), false);
  }

  private void setFraction(String text) throws ProtocolException {
    float fraction;
    try {
      fraction = Float.parseFloat(text);
    } catch (NumberFormatException e) {
      throw new ProtocolException("fraction is no number: " + text);
    }
    if (reporter instanceof Task.TaskReporter && fraction >= 0 && fraction <= 1) {
      ((Task.TaskReporter) reporter).setProgress(fraction);
    }
  }

  /** Each status is a message to the ApplicationMaster: only a new one, and not more often than a person can read. */
  private void show(String text, boolean atOnce) {
    long now = System.nanoTime();
    if (!text.equals(status) && (atOnce || now - statusAt >= TimeUnit.MILLISECONDS.toNanos(STATUS_EVERY_MS))) {
      status = text;
      statusAt = now;
      reporter.setStatus(text);
    }
  }

  /** Milliseconds from RUN until the driver last said that the task waits for a GPU. */
  long waitMs() {
    return waitMs;
  }
}

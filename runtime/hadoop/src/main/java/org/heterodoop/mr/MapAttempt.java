package org.heterodoop.mr;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;

/**
 * What is decided about one map attempt, and its lease at the driver: an open connection.
 *
 * <p>The input format makes it, the runner and the collector (or the record writer) find it by the attempt's id: a JVM can
 * run several attempts, in uber mode one after the other, under LocalJobRunner at once. The lease ends with `close`.
 */
final class MapAttempt {
  private static final Map<String, MapAttempt> OPEN = new ConcurrentHashMap<>();

  private enum Path { CPU, DRIVER, INSTALLED }

  private final String id;
  private final JobConf job;
  private final Thread thread = Thread.currentThread();
  private final long offered = System.nanoTime();
  private final HeteroCounters counters = new HeteroCounters();
  private FileSplit split;
  private GroupReader records;
  private Connection driver;
  private ResultTarget target;
  private Path path = Path.CPU;
  private boolean onHost;
  private boolean forced;
  private long ahead;
  private boolean waits;
  private long cpuStarted;
  private boolean cpuSucceeded;

  private MapAttempt(JobConf job) {
    this.id = job.get(Settings.ATTEMPT_ID, "");
    this.job = job;
  }

  /** Decides about the attempt that the job's settings name; asks the driver, unless the job rules it out. */
  static MapAttempt begin(InputSplit split, JobConf job, Reporter reporter) {
    MapAttempt attempt = new MapAttempt(job);
    for (MapAttempt old : OPEN.values()) {
      if (old.thread == attempt.thread) {
        old.close();  // it failed before Hadoop had anything of ours to close
      }
    }
    OPEN.put(attempt.id, attempt);
    if (split instanceof GroupedSplit) {
      int parts = GroupedSplit.parts((FileSplit) split).length;
      attempt.log("does " + split);
      HeteroCounters.count(reporter, HeteroCounters.GROUPED_SPLITS, parts);
    }
    Decline decline = Decline.find(split, job);
    if (decline == null) {
      attempt.split = (FileSplit) split;
      attempt.offer(reporter);
    } else {
      attempt.decline(decline, reporter);
    }
    return attempt;
  }

  /** The open attempt of these settings, or null. */
  static MapAttempt of(JobConf job) {
    return OPEN.get(job.get(Settings.ATTEMPT_ID, ""));
  }

  /** Has the driver promised a GPU or a host kernel, and nothing gone wrong since? */
  boolean atDriver() {
    return path == Path.DRIVER;
  }

  boolean isInstalled() {
    return path == Path.INSTALLED;
  }

  /** The reader that goes from part to part; null where the real format's own reads. */
  GroupReader records() {
    return records;
  }

  void setRecords(GroupReader records) {
    this.records = records;
  }

  void setTarget(ResultTarget target) {
    this.target = target;
  }

  private void offer(Reporter reporter) {
    boolean retry = Decline.retry(job, reporter);
    try {
      driver = new DriverSocket(job, System.getenv("NM_PORT")).open();
      driver.send(Frame.OFFER, Offer.of(split, job, retry));
      Fields answer = driver.receive().expect(Frame.ANSWER);
      if (!answer.text("version").equals(Frame.VERSION)) {
        throw new VersionException(answer.text("version"));
      }
      logAnswer(answer);
      take(answer, retry, reporter);
    } catch (IOException | RuntimeException | LinkageError e) {
      disconnect();
      decline(noDriver(e, retry), reporter);
    }
  }

  /** Which driver it was, and what it said: a scheduler's choice stands nowhere else. */
  private void logAnswer(Fields answer) throws IOException {
    String reason = answer.has("reason") ? answer.text("reason") : "";
    log("asked the driver, process " + (answer.has("pid") ? answer.text("pid") : "unknown") + ": " + answer.text("run")
        + (reason.isEmpty() ? "" : ", " + reason));
  }

  private void take(Fields answer, boolean retry, Reporter reporter) throws IOException {
    String run = answer.text("run");
    boolean here = run.equals("gpu") || run.equals("host");
    if (here && retry) {
      throw new ProtocolException("the driver answers " + run + " to an attempt that is for the filters only");
    }
    if (here) {
      path = Path.DRIVER;
      onHost = run.equals("host");
      forced = answer.flag("forced");
      ahead = answer.has("ahead") ? answer.number("ahead") : 0;
      waits = answer.flag("waits");
    }
    if (retry) {
      decline(Decline.retryReason(), reporter);
    } else if (!run.equals("gpu") && answer.text("code").matches("HD[0-9]{3}")) {
      decline(new Decline(answer.text("code"), answer.text("reason")), reporter);
    } else if (!here) {  // the scheduler's choice: nothing stands against a GPU
      reporter.setStatus("CPU: " + answer.text("reason"));
    }
  }

  private static Decline noDriver(Throwable e, boolean retry) {
    if (retry) {
      return Decline.retryReason();
    }
    if (e instanceof FileNotFoundException) {
      return new Decline("NO_DRIVER", e.getMessage());
    }
    if (e instanceof UntrustedException) {
      return new Decline("UNTRUSTED", e.getMessage());
    }
    if (e instanceof VersionException) {
      return new Decline("VERSION", e.getMessage());
    }
    return new Decline("DRIVER_ERROR", message(e));
  }

  private void decline(Decline decline, Reporter reporter) {
    String detail = HeteroCounters.DECLINED + decline.counter;
    log("runs on the CPU: " + decline.reason + " [" + detail + "]");  // submit looks for such lines
    reporter.setStatus("CPU: " + decline.reason);
    HeteroCounters.count(reporter, HeteroCounters.DECLINES, 1);
    counters.detail(detail, 1);
  }

  /**
   * Lets the driver run the task and puts the result into its place. False: nothing is left of it, and the CPU path must
   * run. Raises LeftoverException where that cannot be.
   */
  boolean runAtDriver(Reporter reporter) throws LeftoverException {
    try {
      if (target == null) {
        throw new IOException("Hadoop made no " + HeteroCollector.class.getSimpleName() + " for this attempt");
      }
      DriverTask task = new DriverTask(driver, job, split, onHost, reporter);
      MapResult result = task.run(ahead, waits);
      if (result.onHost != onHost) {
        throw new ProtocolException("the driver promised one side, and the result is another one's");
      }
      long announced = System.nanoTime();
      target.receive(result, driver, reporter);
      path = Path.INSTALLED;
      count(result, reporter, task.waitMs(), announced);
      return true;
    } catch (RefusedException e) {
      fallBack("the driver gives it back: " + e.getMessage(), e, reporter);
    } catch (LeftoverException e) {
      disconnect();
      throw e;
    } catch (IOException | RuntimeException | LinkageError e) {
      if (path == Path.INSTALLED) {
        throw e instanceof RuntimeException ? (RuntimeException) e : new IllegalStateException(e);  // a counter too many
      }
      driver.sendIfItTakesIt(Frame.FAILED, new Fields().add("reason", message(e)));
      disconnect();
      fallBack(message(e), e, reporter);
    }
    return false;
  }

  private void count(MapResult result, Reporter reporter, long waitMs, long announced) {
    String where = onHost ? "as a host kernel" : "on " + (result.gpu.isEmpty() ? "a GPU" : result.gpu);
    log("ran " + where + ": " + result.times() + ", installed in "
        + sinceMs(announced) + " ms, " + sinceMs(offered) + " ms in all");
    if (!result.retried.isEmpty()) {
      log("the GPU task was repeated: " + result.retried);
      counters.detail(HeteroCounters.GPU_RETRIED_MAPS, 1);
    }
    if (result.stderr.length > 0) {
      log("stderr of the " + (onHost ? "host kernel:" : "GPU task:"));
      System.err.write(result.stderr, 0, result.stderr.length);
      System.err.println();
    }
    if (forced) {
      counters.detail(HeteroCounters.GPU_FORCED_MAPS, 1);
    }
    counters.time(onHost, HeteroCounters.QUEUE, waitMs);
    counters.time(onHost, HeteroCounters.INSTALL, sinceMs(announced));
    counters.time(onHost, HeteroCounters.ATTEMPT, sinceMs(offered));
    result.count(reporter, job.getNumReduceTasks() == 0, counters);
    counters.write(reporter, job);
    reporter.setStatus(result.status.isEmpty() ? (onHost ? "host kernel: done" : "GPU: done") : result.status);
  }

  private void fallBack(String reason, Throwable cause, Reporter reporter) {
    path = Path.CPU;
    String detail = HeteroCounters.FALLBACK + Fallback.kind(cause);
    log("goes on on the CPU: " + reason + " [" + detail + "]");
    reporter.setStatus("CPU: " + reason);
    HeteroCounters.count(reporter, HeteroCounters.FALLBACKS, 1);
    counters.detail(detail, 1);
  }

  /** The CPU filter starts: the time that the driver learns of counts from here. */
  void cpuStarted() {
    cpuStarted = System.nanoTime();
  }

  void cpuSucceeded(Reporter reporter) {
    cpuSucceeded = true;
    counters.write(reporter, job);
  }

  /** Has either path given all its records? Hadoop closes writers of failed attempts too. */
  boolean succeeded() {
    return cpuSucceeded || path == Path.INSTALLED;
  }

  /** The attempt's output is in its place, on either path. Nothing that the driver does can change that. */
  void finished() {
    if (driver == null) {
      return;
    }
    try {
      if (path == Path.INSTALLED) {
        driver.send(Frame.INSTALLED);
      } else {
        double seconds = (System.nanoTime() - cpuStarted) / (double) TimeUnit.SECONDS.toNanos(1);
        driver.send(Frame.CPU_DONE, new Fields().add("seconds", String.format(Locale.ROOT, "%.6f", seconds)));
        log(String.format(Locale.ROOT, "ran in its container: %.3f s", seconds));
      }
    } catch (IOException e) {
      log("the driver was not told of the end: " + message(e));
    }
  }

  /** Ends the lease. The driver takes an end without `finished` as an attempt that gave no result. */
  void close() {
    OPEN.remove(id, this);
    disconnect();
  }

  private void disconnect() {
    try {
      if (driver != null) {
        driver.close();
      }
    } catch (IOException e) {
      log("closing the connection: " + message(e));
    }
    driver = null;
  }

  void log(String text) {
    System.err.println("heterodoop: " + id + " " + text);
  }

  private static String message(Throwable e) {
    boolean ours = e.getClass() == IOException.class || e instanceof ProtocolException || e instanceof EOFException
        || e instanceof PatienceException;
    return ours && e.getMessage() != null ? e.getMessage() : e.toString();
  }

  private static long sinceMs(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}

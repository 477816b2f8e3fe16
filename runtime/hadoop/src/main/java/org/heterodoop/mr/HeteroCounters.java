package org.heterodoop.mr;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.counters.Limits;

/**
 * What the plug-in counts of one attempt, without taking room from the job's own counters.
 *
 * <p>A job with more than mapreduce.job.counters.max counters loses all of them, but Hadoop counts neither its own enums nor
 * those of file systems against that limit. So the totals are counters of file systems: HETERODOOP-GPU_READ_OPS is the
 * number of splits that GPUs read. A server knows at most 100 file systems in its life, of all jobs together: the names are
 * few and fixed. All else are details, in the group HeteroDoop, which an attempt leaves out where room is scarce.
 */
final class HeteroCounters {
  static final String GROUP = "HeteroDoop";
  /** Attempts whose map output a GPU made, those of them whose GPU was emulated; attempts on the CPU: host kernels, filters. */
  static final String GPU_MAPS = "GPU_MAPS";
  static final String EMULATED_MAPS = "EMULATED_MAPS";
  static final String CPU_MAPS = "CPU_MAPS";
  /** CPU attempts whose map output a host kernel of the driver made. */
  static final String HOST_KERNEL_MAPS = "HOST_KERNEL_MAPS";
  /** Attempts that ran the filter though the driver had promised to do them; CPU attempts that got no GPU for a reason. */
  static final String FALLBACKS = "FALLBACKS";
  static final String DECLINES = "DECLINES";
  static final String GPU_READ_BYTES = "GPU_READ_BYTES";
  /** Splits of attempts that do several. */
  static final String GROUPED_SPLITS = "GROUPED_SPLITS";
  /** GPU attempts that waited for one by the tail rule, though their processor was free. */
  static final String GPU_FORCED_MAPS = "GPU_FORCED_MAPS";
  /** GPU attempts that the driver computed a second time. */
  static final String GPU_RETRIED_MAPS = "GPU_RETRIED_MAPS";
  /** Times: in the driver's queue. */
  static final String QUEUE = "QUEUE";
  /** From the offer to the installed map output. */
  static final String ATTEMPT = "ATTEMPT";
  /** From the announced result to the installed map output. */
  static final String INSTALL = "INSTALL";
  /** How a detail's name begins, before the reason. */
  static final String DECLINED = "DECLINED_";
  static final String FALLBACK = "FALLBACK_";

  private static final String FILE_SYSTEMS = FileSystemCounter.class.getName();
  /** Counters that stay free for what this attempt does not see: other tasks, the reducers, Hadoop's own few. */
  private static final int RESERVE = 64;

  private final Map<String, Long> details = new TreeMap<>();

  /** The file systems' counter that holds a total. */
  static String total(String name) {
    switch (name) {
      case GPU_MAPS:
        return "HETERODOOP-GPU_READ_OPS";
      case GPU_READ_BYTES:
        return "HETERODOOP-GPU_BYTES_READ";
      case EMULATED_MAPS:
        return "HETERODOOP-EMULATED_READ_OPS";
      case CPU_MAPS:
        return "HETERODOOP-CPU_READ_OPS";
      case HOST_KERNEL_MAPS:
        return "HETERODOOP-HOST_READ_OPS";
      case FALLBACKS:
        return "HETERODOOP-FALLBACK_READ_OPS";
      case DECLINES:
        return "HETERODOOP-DECLINED_READ_OPS";
      case GROUPED_SPLITS:
        return "HETERODOOP-GROUPED_READ_OPS";
      default:
        throw new IllegalArgumentException(name + " is no total");
    }
  }

  static void count(Reporter reporter, String total, long by) {
    reporter.incrCounter(FILE_SYSTEMS, total(total), by);
  }

  /** Notes a detail, which is counted by `write`. */
  void detail(String name, long by) {
    if (by > 0) {
      details.merge(name, by, Long::sum);
    }
  }

  /** Milliseconds of tasks of GPUs, or of host kernels. */
  void time(boolean onHost, String name, long ms) {
    detail((onHost ? "HOST_" : "GPU_") + name + "_MS", ms);
  }

  /** Those that they spent in a stage of the driver's; its stages have no name of those above. */
  void stage(boolean onHost, String name, double seconds) {
    time(onHost, name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]+", "_"), Math.round(seconds * 1000));
  }

  /** Counts the details, after everything that the job itself counts in this attempt: only now their number is known. */
  void write(Reporter reporter, JobConf job) {
    if (job.getBoolean(Settings.DETAILS, Settings.DETAILS_DEFAULT) && details.size() + RESERVE <= room(reporter)) {
      details.forEach((name, value) -> reporter.incrCounter(GROUP, name, value));
    }
    details.clear();
  }

  /**
   * How many counters more the attempt may have; 0 where this Hadoop does not let us see. A job may raise the limit for its
   * tasks, but not for the servers that add their counters up: theirs is taken for Hadoop's default.
   */
  private static int room(Reporter reporter) {
    try {
      Field task = Task.TaskReporter.class.getDeclaredField("this$0");
      Method counters = Task.class.getDeclaredMethod("getCounters");
      task.setAccessible(true);
      counters.setAccessible(true);
      int most = Math.min(Limits.getCountersMax(), MRJobConfig.COUNTERS_MAX_DEFAULT);
      return most - limited((Counters) counters.invoke(task.get(reporter)));
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return 0;
    }
  }

  private static int limited(Counters counters) {
    int found = 0;
    for (Counters.Group group : counters) {
      String name = group.getName();
      boolean free = name.equals(FILE_SYSTEMS) || name.equals(TaskCounter.class.getName())
          || name.equals(JobCounter.class.getName());
      found += free ? 0 : group.size();
    }
    return found;
  }
}

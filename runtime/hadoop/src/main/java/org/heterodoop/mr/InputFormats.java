package org.heterodoop.mr;

import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * The input format behind HeteroInputFormat (heterodoop.inputformat), and what streaming would do with it.
 *
 * <p>A name without a package is looked for where streaming's -inputformat looks: among Hadoop's own formats, then streaming's.
 */
final class InputFormats {
  private static final String[] PACKAGES = {"org.apache.hadoop.mapred.", "org.apache.hadoop.streaming."};

  private InputFormats() {
  }

  /** Its class. Raises RuntimeException where there is none of that name. */
  static Class<?> of(JobConf job) {
    String name = job.get(Settings.INPUT_FORMAT, TextInputFormat.class.getName()).trim();
    if (name.indexOf('.') < 0) {
      for (String where : PACKAGES) {
        Class<?> found = job.getClassByNameOrNull(where + name);
        if (found != null) {
          return found;
        }
      }
    }
    try {
      return job.getClassByName(name);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(Settings.INPUT_FORMAT + " names no class: " + name, e);
    }
  }

  @SuppressWarnings("unchecked")
  static <K, V> InputFormat<K, V> make(JobConf job) {
    Class<?> type = of(job);
    Class<?> made = type == TextInputFormat.class ? BoundedText.class : type;
    return (InputFormat<K, V>) ReflectionUtils.newInstance(made, job);
  }

  /**
   * Streaming pipes keys too, unless the job's input format is TextInputFormat itself. The job's is ours: says what
   * streaming would have found, where the job does not say it.
   */
  static void tellStreaming(JobConf job) {
    if (job.get(Settings.IGNORE_KEY) == null) {
      job.setBoolean(Settings.IGNORE_KEY, of(job) == TextInputFormat.class);
    }
  }

  /** TextInputFormat, with the upper limit of a split that Hadoop's newer one knows and the one of streaming's jobs ignores. */
  static final class BoundedText extends TextInputFormat {
    private long most = Long.MAX_VALUE;

    @Override
    public void configure(JobConf job) {
      super.configure(job);
      most = Math.max(1, job.getLong(Settings.MAX_SPLIT, Long.MAX_VALUE));
    }

    @Override
    protected long computeSplitSize(long goal, long least, long block) {
      return super.computeSplitSize(Math.min(goal, most), least, block);
    }
  }
}

package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;

/**
 * Keeps the map output that the driver made; on the CPU path it is Hadoop's own sort buffer.
 *
 * <p>The buffer allocates mapreduce.task.io.sort.mb at once, so an attempt that the driver is to do makes it only when it
 * must.
 */
public final class HeteroCollector<K, V> implements MapOutputCollector<K, V> {
  private Context context;
  private MapAttempt attempt;
  private MapTask.MapOutputBuffer<K, V> buffer;

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    this.context = context;
    attempt = MapAttempt.of(context.getJobConf());
    if (attempt != null && attempt.atDriver()) {
      attempt.setTarget(new ShuffleOutput(context.getJobConf(), context.getMapTask().getMapOutputFile()));
    } else {
      buffer();
    }
  }

  private MapTask.MapOutputBuffer<K, V> buffer() throws IOException, ClassNotFoundException {
    if (buffer == null) {
      MapTask.MapOutputBuffer<K, V> made = new MapTask.MapOutputBuffer<>();
      made.init(context);
      buffer = made;
    }
    return buffer;
  }

  @Override
  public void collect(K key, V value, int partition) throws IOException, InterruptedException {
    try {
      buffer().collect(key, value, partition);
    } catch (ClassNotFoundException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void flush() throws IOException, InterruptedException, ClassNotFoundException {
    if (attempt != null && attempt.isInstalled()) {
      context.getMapTask().getSortPhase().complete();
    } else {
      buffer().flush();
    }
    if (attempt != null) {
      attempt.finished();
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    try {
      if (buffer != null) {
        buffer.close();
      }
    } finally {
      if (attempt != null) {
        attempt.close();
      }
    }
  }
}

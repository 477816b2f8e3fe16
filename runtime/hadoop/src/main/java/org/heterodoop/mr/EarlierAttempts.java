package org.heterodoop.mr;

import java.io.IOException;
import java.lang.reflect.Field;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.apache.hadoop.mapred.TaskCompletionEvent.Status;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/**
 * What became of the attempts of a task before this one, as its ApplicationMaster tells reducers.
 *
 * <p>A number above 0 says little: attempts are killed with their node, by preemption or by speculation, and a restarted
 * ApplicationMaster goes on at 1000. Only one that failed speaks against the GPU. A map whose output could not be fetched
 * counts as failed there.
 */
final class EarlierAttempts {
  private static final int AT_ONCE = 10_000;
  /** How far apart the first numbers of two lives of an ApplicationMaster are. */
  private static final int GENERATION = 1_000;

  /** The ApplicationMaster's events of map attempts, in order, from `first` on. */
  interface Events {
    TaskCompletionEvent[] from(int first) throws IOException;
  }

  private EarlierAttempts() {
  }

  /** Has an earlier attempt of the task failed? True where nobody says. */
  static boolean failed(JobConf job, Reporter reporter) {
    TaskAttemptID attempt = TaskAttemptID.forName(job.get(Settings.ATTEMPT_ID));
    if (attempt == null || attempt.getId() == 0) {
      return false;
    }
    try {
      TaskUmbilicalProtocol master = master(reporter);
      return failed(attempt, first -> master.getMapCompletionEvents(attempt.getJobID(), first, AT_ONCE, attempt)
          .getMapTaskCompletionEvents());
    } catch (IOException | ReflectiveOperationException | RuntimeException | LinkageError e) {
      return true;
    }
  }

  /** True too where no earlier attempt is over, unless the ApplicationMaster has just begun anew: it may run beside this one. */
  static boolean failed(TaskAttemptID attempt, Events events) throws IOException {
    boolean told = false;
    int first = 0;
    for (TaskCompletionEvent[] some = events.from(0); some.length > 0; some = events.from(first)) {
      for (TaskCompletionEvent event : some) {
        if (event.getTaskAttemptId().getTaskID().equals(attempt.getTaskID())) {
          told = true;
          if (event.getTaskStatus() == Status.FAILED || event.getTaskStatus() == Status.TIPFAILED) {
            return true;
          }
        }
      }
      first += some.length;
    }
    return !told && attempt.getId() % GENERATION != 0;
  }

  private static TaskUmbilicalProtocol master(Reporter reporter) throws ReflectiveOperationException {
    Field field = Task.TaskReporter.class.getDeclaredField("umbilical");
    field.setAccessible(true);
    return (TaskUmbilicalProtocol) field.get(reporter);
  }
}

package org.heterodoop.mr;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskCompletionEvent;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An attempt that was killed says nothing against a GPU, one that failed does. */
class EarlierAttemptsTest {
  private static final String TASK = "attempt_1700000000000_0012_m_00000";

  private static TaskCompletionEvent event(String text) {
    String[] parts = text.split("=");
    TaskAttemptID attempt = TaskAttemptID.forName(TASK + parts[0]);
    return new TaskCompletionEvent(0, attempt, 0, true, TaskCompletionEvent.Status.valueOf(parts[1]), "");
  }

  @ParameterizedTest
  @CsvSource({
    "3_1, 3_0=KILLED 4_0=FAILED, false",
    "3_1, 3_0=OBSOLETE 3_0=KILLED, false",
    "3_2, 3_0=FAILED 3_1=KILLED, true",
    "3_1, 2_0=SUCCEEDED 3_0=FAILED, true",
    "3_4, 3_0=KILLED 3_1=TIPFAILED, true",
    "3_1, 4_0=SUCCEEDED, true",
    "3_1000, 4_1000=SUCCEEDED, false",
    "3_1001, 3_1000=FAILED, true",
  })
  void onlyAFailureCounts(String own, String told, boolean failed) throws IOException {
    List<TaskCompletionEvent> events = new ArrayList<>();
    Arrays.stream(told.split(" ")).map(EarlierAttemptsTest::event).forEach(events::add);
    // One at a time, as an ApplicationMaster may give them.
    EarlierAttempts.Events oneByOne = first -> events.stream().skip(first).limit(1).toArray(TaskCompletionEvent[]::new);
    assertEquals(failed, EarlierAttempts.failed(TaskAttemptID.forName(TASK + own), oneByOne));
  }
}

package org.heterodoop.mr;

import java.io.IOException;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** How many map attempts a cluster runs at a time, if it has nothing else to do. */
final class Slots {
  private Slots() {
  }

  /** By the memory of its nodes, which is what YARN's schedulers go by unless told otherwise; 0: nobody says. */
  static int of(JobConf job) {
    if (!MRConfig.YARN_FRAMEWORK_NAME.equals(job.get(MRConfig.FRAMEWORK_NAME))) {
      return 0;
    }
    int each = Math.max(1, job.getMemoryRequired(TaskType.MAP));
    long slots = 0;
    try (YarnClient yarn = YarnClient.createYarnClient()) {
      yarn.init(job);
      yarn.start();
      for (NodeReport node : yarn.getNodeReports(NodeState.RUNNING)) {
        slots += node.getCapability().getMemorySize() / each;
      }
    } catch (IOException | YarnException | RuntimeException | LinkageError e) {
      return 0;
    }
    return (int) Math.min(Integer.MAX_VALUE, slots);
  }
}

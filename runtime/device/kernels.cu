// The runtime's own kernels: one module beside the generated ones. What they do and when they run is said in kernels.h.
#include "areas.cuh"
#include "audit.cuh"
#include "gather.cuh"
#include "keys.cuh"
#include "merge_sort.cuh"
#include "partition.cuh"
#include "records.cuh"
#include "stage.cuh"

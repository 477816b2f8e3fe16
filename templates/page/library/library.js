export { init, use, connect, format } from "echarts/core";
import { use } from "echarts/core";
import { CustomChart, BarChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent, LegendComponent, DataZoomComponent, ToolboxComponent, AriaComponent, MarkLineComponent } from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
use([CustomChart, BarChart, LineChart, GridComponent, TooltipComponent, LegendComponent, DataZoomComponent, ToolboxComponent, AriaComponent, MarkLineComponent, CanvasRenderer, SVGRenderer]);

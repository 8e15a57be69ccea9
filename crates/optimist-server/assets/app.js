// Brings pages to life. Each module does one thing and finds its elements by attributes; without it, the page still works.
import { follow } from "./live.js";
import { tips } from "./tips.js";
import { brush } from "./brush.js";
import { outbox } from "./outbox.js";
import { tools } from "./tools.js";

tools();
tips();
brush();
outbox();
follow();

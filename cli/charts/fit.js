const PAPER = 700; // pixels between the margins of a printed page

// Draws a chart no wider than its room: panels in fewer columns, then narrower ones; what is left is scaled by CSS.
async function fitted(element, spec, options, room = element.clientWidth) {
  const drawn = structuredClone(spec);
  if (room < 600) {
    Object.assign(drawn.config.axis, {labelFontSize: 9, labelLimit: 230});
    drawn.config.legend.columns = room < 450 ? 1 : 2;
  }
  for (let tries = 0; tries < 6; tries++) {
    await vegaEmbed(element, drawn, options);
    const width = element.querySelector("svg")?.width.baseVal.value ?? 0;
    if (width <= room || !narrower(drawn, width, room)) return;
  }
}

function narrower(spec, width, room) {
  if (spec.hconcat) {
    spec.concat = spec.hconcat;
    spec.columns = spec.hconcat.length;
    delete spec.hconcat;
  }
  const columns = spec.vconcat ? 1 : spec.columns ?? 1, over = width - room;
  const panels = spec.vconcat ?? spec.concat ?? [spec.spec ?? spec];
  if (columns === 1 || over < (columns > 3 ? 0.25 : 0.42) * width) {
    const widths = panels.map((panel) => panel.width).filter((one) => typeof one === "number");
    const most = Math.max(80, Math.max(...widths) - Math.ceil(over / columns));
    if (panels.map((panel) => shrink(panel, width, room, most)).some(Boolean)) return true;
  }
  if (columns === 1) return false;
  spec.columns = Math.max(1, Math.min(columns - 1, Math.round((columns * room) / width)));
  for (const panel of panels.filter((_, place) => place % spec.columns === 0)) { // the first of a row has the axis of all
    for (const {encoding} of panel.layer ?? []) {
      if (encoding?.y?.axis?.labels === false) Object.assign(encoding.y.axis, {labels: true, ticks: true});
    }
  }
  return true;
}

function shrink(panel, width, room, most) {
  const {layer = [], width: before} = panel;
  if (panel.vconcat || panel.hconcat || panel.concat || panel.facet) return narrower(panel, width, room);
  if (before?.step) { // a matrix: no room for numbers, nor for names below narrow columns
    const names = layer[0].encoding.x.scale.domain, step = Math.max(5, Math.floor(before.step - (width - room) / names.length));
    if (step === before.step) return false;
    panel.width = {step};
    if (panel.height.step > 12) panel.height = {step: 12};
    panel.layer = layer.filter(({mark}) => mark.type !== "text" || step > 24);
    for (const {encoding: {x}} of panel.layer) {
      if (x) Object.assign(x.axis, {labelAngle: -60, labels: step >= 9});
    }
    return true;
  }
  if (typeof before !== "number" || before <= most) return false;
  panel.width = most;
  for (const {mark, transform} of most < 250 ? layer : []) { // no room for all names beside points
    if (mark.style === "name") transform.push({filter: "isValid(datum.beyond) || datum.is === 'own'"});
  }
  return true;
}
